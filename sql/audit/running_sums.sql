-- Rule 1: the balance of each account, mode and currency equals the sums of the ledger.
with booked as (
  select account, mode, currency, sum(amount) as available,
    sum(iif(kind = 'sale', amount, 0)) as sales, sum(iif(kind = 'fee', amount, 0)) as fees,
    sum(iif(kind in ('payout', 'payout_reversal'), amount, 0)) as payouts,
    sum(iif(kind in ('refund', 'refund_reversal'), amount, 0)) as refunds,
    sum(iif(kind = 'adjustment', amount, 0)) as adjustments
  from ledger group by account, mode, currency
)
select format('balances %s %s of account %s', coalesce(b.mode, l.mode), coalesce(b.currency, l.currency),
    (select id from accounts where seq = coalesce(b.account, l.account))) as about,
  format('available %d, sales %d, fees %d, payouts %d, refunds %d, adjustments %d', ifnull(b.available, 0),
    ifnull(b.sales, 0), ifnull(b.fees, 0), ifnull(b.payouts, 0), ifnull(b.refunds, 0), ifnull(b.adjustments, 0)) as found,
  format('available %d, sales %d, fees %d, payouts %d, refunds %d, adjustments %d, in cents, as the ledger adds up',
    ifnull(l.available, 0), ifnull(l.sales, 0), ifnull(l.fees, 0), ifnull(l.payouts, 0), ifnull(l.refunds, 0),
    ifnull(l.adjustments, 0)) as should
from balances b full join booked l on l.account = b.account and l.mode = b.mode and l.currency = b.currency
where (ifnull(b.available, 0), ifnull(b.sales, 0), ifnull(b.fees, 0), ifnull(b.payouts, 0), ifnull(b.refunds, 0),
    ifnull(b.adjustments, 0))
  <> (ifnull(l.available, 0), ifnull(l.sales, 0), ifnull(l.fees, 0), ifnull(l.payouts, 0), ifnull(l.refunds, 0),
    ifnull(l.adjustments, 0))
