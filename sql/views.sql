-- The view of the file once more, for each connection: views in a file are disabled, as another program can add some.
create temp view if not exists events as
select r.seq, r.id, r.account, r.mode, r.type, r.object_id, r.created_at,
  '{"id":"' || r.id || '","object":"event","type":"' || r.type || '","livemode":' || iif(r.mode = 'live', 'true', 'false')
    || ',"created":"' || strftime('%Y-%m-%dT%H:%M:%S', r.created_at / 1000, 'unixepoch')
    || printf('.%03dZ', r.created_at % 1000) || '","data":{"object":'
    || iif(r.first is null, r.content, (
      select json_group_object(m.key, json(ifnull(r.content -> m.key, f.content -> m.key)))
      from event_rows f, json_each(iif(json_valid(r.content) and json_valid(f.content), f.content, '{}')) m
      where f.seq = r.first))
    || '}}' as body,
  r.invoice
from event_rows r;
