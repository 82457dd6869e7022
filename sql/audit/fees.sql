-- Rule 2: a payment or deposit has at most one fee, and only together with its sale.
select format('ledger %s', f.id) as about, 'a fee' as found, 'beside exactly one sale of its payment or deposit, and the only one' as should
from ledger f
where f.kind = 'fee' and (
  (select count(*) from ledger s where s.kind = 'sale' and (s.payment = f.payment or s.deposit = f.deposit)) <> 1
  or (select count(*) from ledger g where g.kind = 'fee' and (g.payment = f.payment or g.deposit = f.deposit)) <> 1
)
