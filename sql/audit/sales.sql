-- Rule 2: a payment or deposit that was ever confirmed has one sale of its value. Others have none.
select format('payment %s', p.id) as about,
  (select format('%d sales of %d cents', count(*), ifnull(sum(l.amount), 0)) from ledger l
    where l.payment = p.seq and l.kind = 'sale') as found,
  iif(p.was_confirmed and p.value > 0, format('one sale of %d cents', p.value), 'no sale') as should
from payments p
where (select count(*) from ledger l where l.payment = p.seq and l.kind = 'sale')
    <> iif(p.was_confirmed and p.value > 0, 1, 0)
  or exists (select 1 from ledger l where l.payment = p.seq and l.kind = 'sale' and l.amount <> p.value)
union all
select format('deposit %s', d.id),
  (select format('%d sales of %d cents', count(*), ifnull(sum(l.amount), 0)) from ledger l
    where l.deposit = d.seq and l.kind = 'sale'),
  iif(d.was_confirmed and d.gross > 0, format('one sale of %d cents', d.gross), 'no sale')
from deposits d
where (select count(*) from ledger l where l.deposit = d.seq and l.kind = 'sale')
    <> iif(d.was_confirmed and d.gross > 0, 1, 0)
  or exists (select 1 from ledger l where l.deposit = d.seq and l.kind = 'sale' and l.amount <> d.gross)
