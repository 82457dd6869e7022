-- Rule 2: the entries of a confirmed payment are its sale and fee. Those of an unconfirmed one add up to zero.
select format('payment %s', p.id) as about,
  format('%s, with %d cents in the ledger', o.state,
    (select ifnull(sum(l.amount), 0) from ledger l where l.payment = p.seq)) as found,
  iif(o.state = 'confirmed', 'its sale and fee', 'nothing') as should
from payments p join observations o on o.seq = p.observation
where (select ifnull(sum(l.amount), 0) from ledger l where l.payment = p.seq)
  <> iif(o.state = 'confirmed', (select ifnull(sum(l.amount), 0) from ledger l where l.payment = p.seq
    and l.kind in ('sale', 'fee')), 0)
union all
select format('deposit %s', d.id),
  format('%s, with %d cents in the ledger', o.state,
    (select ifnull(sum(l.amount), 0) from ledger l where l.deposit = d.seq)),
  iif(o.state = 'confirmed', 'its sale and fee', 'nothing')
from deposits d join observations o on o.seq = d.observation
where (select ifnull(sum(l.amount), 0) from ledger l where l.deposit = d.seq)
  <> iif(o.state = 'confirmed', (select ifnull(sum(l.amount), 0) from ledger l where l.deposit = d.seq
    and l.kind in ('sale', 'fee')), 0)
