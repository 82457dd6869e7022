-- An event's body is put together when it is read, from the columns of its row and from the first event of its object.
-- The table becomes `event_rows`, and the view `events` shows what it was.
alter table events rename to old_events;
create table event_rows (
  seq        integer primary key,
  -- the number in it is `seq`, so it needs no index
  id         text    not null
    check (id glob 'evt_*' and substr(id, 21, 8) = printf('%08x', 0x80000000 | (seq & 0x3fffffff))),
  account    integer not null references accounts (seq),
  mode       text    not null check (mode in ('live', 'test')),
  type       text    not null,
  object_id  text    not null,
  created_at integer not null,
  -- the event of the same object with the members that are not in `content`
  first      integer check (first < seq),
  -- the object of the event, or its members that differ from those of `first`, or a whole body of another form
  content    text    not null check (json_valid(content)),
  invoice    text    check (invoice is null or json_valid(invoice))
) strict;

-- `limit -1` has each inner column computed once for a row
insert into event_rows (seq, id, account, mode, type, object_id, created_at, first, content, invoice)
with texts as (
  select *, substr(body, instr(body, '"object":{') + 9, length(body) - instr(body, '"object":{') - 10) as text from old_events
), pairs as (
  select e.*, iif(json_valid(e.text), e.text, e.body) as object, f.seq as first, f.text as first_object
  from texts e left join texts f on f.seq = (select min(seq) from old_events indexed by events_by_object where object_id = e.object_id) and f.seq < e.seq
  order by e.seq limit -1
), comparable as (
  select *, case when json_valid(first_object)
    then (select group_concat(key) from json_each(object)) = (select group_concat(key) from json_each(first_object)) end as same
  from pairs limit -1
)
select seq, id, account, mode, type, object_id, created_at, iif(same, first, null),
  iif(same, (select json_group_object(key, json(object -> key)) from json_each(object)
    where object -> key is not first_object -> key), object),
  invoice
from comparable;

create view events as
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

-- a body that would be read in another form is kept as it was
create table kept_events as
select o.seq from old_events o join events e on e.seq = o.seq where e.body is not o.body;
update event_rows set first = null, content = (select body from old_events o where o.seq = event_rows.seq)
where seq in (select seq from kept_events) or first in (select seq from kept_events);
drop table kept_events;

drop table old_events;
create index events_of_account on event_rows (account, mode, seq);
create index events_by_type on event_rows (account, mode, type, seq);
create index events_by_object on event_rows (object_id, seq);
