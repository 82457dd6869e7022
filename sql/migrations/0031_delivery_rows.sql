-- A delivery names its URL and its queue by a number, and an attempt its delivery. The tables become `delivery_rows` and
-- `attempt_rows`, and the views `deliveries` and `attempts` show what they were.
create table webhook_urls (
  seq integer primary key,
  url text    not null unique
) strict;
create table webhook_queues (
  seq  integer primary key,
  -- whoever is told: one that is slow or dead delays nobody in another queue
  name text    not null unique
) strict;

alter table deliveries rename to old_deliveries;
create table delivery_rows (
  seq             integer primary key,
  id              text    not null unique,
  event           integer not null references event_rows (seq),
  -- null: the invoice's own webhookUrl
  endpoint        integer references endpoints (seq),
  url             integer not null references webhook_urls (seq),
  queue           integer not null references webhook_queues (seq),
  state           text    not null check (state in ('pending', 'delivered') or state = 'failed'),
  -- of this round, and of the rounds before the delivery was sent again
  attempts        integer not null check (attempts between 0 and 11),
  made_before     integer not null default 0 check (made_before >= 0),
  next_attempt_at integer,
  check ((state = 'pending') = (next_attempt_at is not null))
) strict;
insert into webhook_urls (url) select distinct url from old_deliveries order by rowid;
insert into webhook_queues (name) select distinct lane from old_deliveries order by rowid;
insert into delivery_rows (id, event, endpoint, url, queue, state, attempts, made_before, next_attempt_at)
select d.id, d.event, d.endpoint, u.seq, q.seq, d.state, d.attempts, d.made_before, d.next_attempt_at
from old_deliveries d join webhook_urls u on u.url = d.url join webhook_queues q on q.name = d.lane order by d.rowid;

alter table attempts rename to old_attempts;
create table attempt_rows (
  delivery   integer not null references delivery_rows (seq),
  number     integer not null check (number >= 1),
  at         integer not null,
  status     integer,
  latency_ms integer not null check (latency_ms >= 0),
  error      text,
  answer     text,
  -- an earlier attempt with the same answer
  answer_of  integer check (answer_of is null or answer_of < number and answer is null),
  signatures text check (signatures like 't=% v1,%'),
  format     text check ((format is null) = (signatures is null) and format in ('event', 'legacy')),
  primary key (delivery, number),
  check ((status is null) <> (error is null))
) strict, without rowid;
insert into attempt_rows
select d.seq, a.number, a.at, a.status, a.latency_ms, a.error, a.answer, a.answer_of, a.signatures, a.format
from old_attempts a join delivery_rows d on d.id = a.delivery order by d.seq, a.number;

drop table old_attempts;
drop table old_deliveries;
create unique index deliveries_of_event on delivery_rows (event, ifnull(endpoint, 0));
create index deliveries_due on delivery_rows (queue, next_attempt_at) where state = 'pending';
create index deliveries_not_taken on delivery_rows (state, event) where state <> 'delivered';
create index deliveries_of_endpoint on delivery_rows (endpoint, event) where endpoint is not null;
create index attempts_by_age on attempt_rows (at);

create view deliveries as
select d.seq, d.id, d.event, d.endpoint, (select url from webhook_urls where seq = d.url) as url,
  (select name from webhook_queues where seq = d.queue) as lane, d.state, d.attempts, d.made_before, d.next_attempt_at
from delivery_rows d;
create view attempts as
select (select id from delivery_rows where seq = a.delivery) as delivery, a.number, a.at, a.status, a.latency_ms, a.error,
  a.answer, a.answer_of, a.signatures, a.format
from attempt_rows a;
