select format('account %s (%s) has money and nowhere to pay it out to', a.id, a.name) as about,
  'set a payout address in the operator interface; it can be used 24 hours later' as mend
from accounts a
where a.status = 'active' and exists (select 1 from balances b where b.account = a.seq and b.mode = 'live'
    and b.available > 0)
  and not exists (select 1 from payout_addresses p where p.account = a.seq)
