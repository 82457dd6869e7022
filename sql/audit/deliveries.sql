-- Rule 4: an event has a delivery to every endpoint that got such events at that time. An endpoint that was changed
-- afterwards, by the audit log, is not checked for events before the change. Events up to the newest one whose delivery
-- was deleted are not checked either.
select format('event %s', e.id) as about, format('no delivery to %s', p.url) as found, 'one delivery' as should
from events e join endpoints p on p.account = e.account
where p.created_at < e.created_at and ifnull(p.removed_at, e.created_at + 1) > e.created_at and p.enabled
  and (p.mode is null or p.mode = e.mode)
  and (p.types is null or exists (select 1 from json_each(p.types) t where t.value = e.type))
  and (p.format = 'event' or e.type not like 'account.%')
  and not exists (select 1 from audit_log a where a.object_id = p.id and a.at >= e.created_at)
  and e.seq > ifnull((select event from pruned_deliveries where endpoint = p.seq), 0)
  and not exists (select 1 from deliveries d where d.event = e.seq and d.endpoint = p.seq)
union all
select format('event %s', e.id), 'no delivery to the invoice''s webhookUrl', 'one delivery'
from invoices i join events e on e.object_id = i.id
where i.webhook_url is not null and e.seq > ifnull((select event from pruned_deliveries where endpoint = 0), 0)
  and not exists (select 1 from deliveries d where d.event = e.seq and d.endpoint is null)
union all
select format('delivery %s', d.id),
  format('to an endpoint of another account or mode: %s', (select url from webhook_urls where seq = d.url)),
  'to the account of its event'
from deliveries d join events e on e.seq = d.event join endpoints p on p.seq = d.endpoint
where p.account <> e.account
union all
select format('attempt %s of delivery %s', a.number, d.id),
  format('answered as attempt %s, which has no answer', a.answer_of), 'answered as one that has it'
from attempts a join deliveries d on d.seq = a.delivery
  left join attempts f on f.delivery = a.delivery and f.number = a.answer_of
where a.answer_of is not null and f.answer is null
