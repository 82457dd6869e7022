-- The views of the file once more, for each connection: views in a file are disabled, as another program can add some.
create temp view if not exists events as
select r.seq, r.id, r.account, r.mode, r.type, r.object_id, r.created_at,
  iif(r.content glob '{"id":"evt_*', r.content,
    '{"id":"' || r.id || '","object":"event","type":"' || r.type || '","livemode":' || iif(r.mode = 'live', 'true', 'false')
    || ',"created":"' || strftime('%Y-%m-%dT%H:%M:%S', r.created_at / 1000, 'unixepoch')
    || printf('.%03dZ', r.created_at % 1000) || '","data":{"object":'
    || iif(r.first is null, r.content, (
      select json_group_object(m.key, json(ifnull(r.content -> m.key, f.content -> m.key)))
      from event_rows f, json_each(iif(json_valid(r.content) and json_valid(f.content), f.content, '{}')) m
      where f.seq = r.first))
    || '}}') as body,
  r.invoice
from event_rows r;

create temp view if not exists deliveries as
select d.seq, d.id, d.event, d.endpoint, (select url from webhook_urls where seq = d.url) as url,
  (select name from webhook_queues where seq = d.queue) as lane, d.state, d.attempts, d.made_before, d.next_attempt_at
from delivery_rows d;

create temp view if not exists attempts as
select (select id from delivery_rows where seq = a.delivery) as delivery, a.number, a.at, a.status, a.latency_ms, a.error,
  a.answer, a.answer_of, a.signatures, a.format
from attempt_rows a;
