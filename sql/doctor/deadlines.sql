-- An invoice waits up to six hours for a chain that lags.
select format('%d invoices should have expired more than an hour ago', count(*)) as about,
  'is `coffer serve` running on this file? its log says what holds it up' as mend
from invoices where status in ('created', 'awaiting_payment')
  and expires_at < :now - 3600000 - iif(mode = 'live' and exists (select 1 from chains), 21600000, 0)
having count(*) > 0
