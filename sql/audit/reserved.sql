-- Rule 1: the reserve equals the sum of open payouts and refunds.
with open as (
  select account, mode, currency, sum(amount) as amount from transfers
  where status in ('requested', 'approved', 'processing') group by account, mode, currency
)
select format('balances %s %s of account %s', coalesce(b.mode, o.mode), coalesce(b.currency, o.currency),
    (select id from accounts where seq = coalesce(b.account, o.account))) as about,
  format('reserved %d', ifnull(b.reserved, 0)) as found,
  format('reserved %d cents, the open payouts and refunds', ifnull(o.amount, 0)) as should
from balances b full join open o on o.account = b.account and o.mode = b.mode and o.currency = b.currency
where ifnull(b.reserved, 0) <> ifnull(o.amount, 0)
