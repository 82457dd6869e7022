-- rule 2: what is confirmed stands in the ledger with its sale and fee, what is not has been taken back to nothing
select format('payment %s', p.id),
  format('%s, with %d cents in the ledger', p.state,
    (select ifnull(sum(l.amount), 0) from ledger l where l.payment = p.seq)),
  iif(p.state = 'confirmed', 'its sale and fee', 'nothing')
from payments p
where (select ifnull(sum(l.amount), 0) from ledger l where l.payment = p.seq)
  <> iif(p.state = 'confirmed', (select ifnull(sum(l.amount), 0) from ledger l where l.payment = p.seq
    and l.kind in ('sale', 'fee')), 0)
union all
select format('deposit %s', d.id),
  format('%s, with %d cents in the ledger', d.status,
    (select ifnull(sum(l.amount), 0) from ledger l where l.deposit = d.seq)),
  iif(d.status = 'confirmed', 'its sale and fee', 'nothing')
from deposits d
where (select ifnull(sum(l.amount), 0) from ledger l where l.deposit = d.seq)
  <> iif(d.status = 'confirmed', (select ifnull(sum(l.amount), 0) from ledger l where l.deposit = d.seq
    and l.kind in ('sale', 'fee')), 0)
