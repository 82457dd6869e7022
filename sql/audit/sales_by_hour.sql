-- Rule 1: the sales of each hour equal the sums of the ledger.
with booked as (
  select account, mode, created_at / 3600000 as hour, currency, count(*) as count, sum(amount) as amount
  from ledger where kind = 'sale' group by account, mode, created_at / 3600000, currency
), stored as (
  select account, mode, hour, currency, sum(count) as count, sum(amount) as amount
  from sales_by_hour group by account, mode, hour, currency
)
select format('sales_by_hour %s %s of account %s, hour %d', coalesce(s.mode, b.mode), coalesce(s.currency, b.currency),
    (select id from accounts where seq = coalesce(s.account, b.account)), coalesce(s.hour, b.hour)) as about,
  format('%d sales of %d cents', ifnull(s.count, 0), ifnull(s.amount, 0)) as found,
  format('%d sales of %d cents, as the ledger adds up', ifnull(b.count, 0), ifnull(b.amount, 0)) as should
from stored s full join booked b
  on b.account = s.account and b.mode = s.mode and b.hour = s.hour and b.currency = s.currency
where (ifnull(s.count, 0), ifnull(s.amount, 0)) <> (ifnull(b.count, 0), ifnull(b.amount, 0))
