-- Observations whose next step cannot be booked.
with kept (account) as (
  select i.account from observations o join payments p on p.observation = o.seq join invoices i on i.seq = p.invoice
  where o.unbookable_at is not null
  union all
  select d.account from observations o join deposits d on d.observation = o.seq where o.unbookable_at is not null
)
select format('%d payments of account %s (%s) cannot be booked: its balance would pass what can be counted', count(*), a.id, a.name) as about,
  'make room by a payout or an adjustment: they are booked when their next step is told again' as mend
from kept k join accounts a on a.seq = k.account group by a.seq
