select format('%s %s is on hold since a restore: it may have been sent since the copy was made', kind, id) as about,
  'look at its destination, then release it in the operator interface' as mend
from transfers where sending = 'restored' and status <> 'processing'
union all
select format('server order %s waits for a person: nobody knows whether it was made', id),
  'look at the provider, then activate, fail or release it in the operator interface'
from servers where ordering = 'unknown'
union all
select format('%d payments matched nothing', count(*)), 'look at each in the operator interface and note what became of it'
from unmatched_payments where resolved_at is null having count(*) > 0
union all
select format('%s %s waits for approval', kind, id), 'approve or reject it in the operator interface'
from (select kind, id from transfers where mode = 'live' and status = 'requested' order by seq limit 20)
