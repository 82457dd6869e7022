select d.id, (select url from webhook_urls where seq = d.url) as url, d.made_before + d.attempts as attempts, d.endpoint,
  n.secret, n.format,
  n.seq is null or n.removed_at is not null or n.format = 'legacy' and e.type like 'account.%' as is_untold, a.legacy_secret, e.id as event,
  e.type as kind, e.body, e.invoice,
  -- a previous secret signs beside the new one until its time has passed
  case when d.endpoint is null and a.legacy_secret_old_until > :now then a.legacy_secret_old
    when n.secret_old_until > :now then n.secret_old end as old_secret
from deliveries d join events e on e.seq = d.event join accounts a on a.seq = e.account
  left join endpoints n on n.seq = d.endpoint
where d.state = 'pending' and d.queue = :queue and d.next_attempt_at <= :now and d.seq = ifnull(:only, d.seq)
order by d.next_attempt_at limit :limit
