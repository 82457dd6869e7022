-- What was priced at a rate keeps where that came from, and of when it was. Until here there was one source, the fixed
-- table of what is simulated, whose rates are always of the moment. The tables are made anew, so that no row can leave
-- out its source. A source is a word of the program's; which of them may stand where is a rule of the audit.
create table quotes_new (
  seq             integer primary key,
  invoice         integer not null references invoices (seq),
  asset           text    not null,
  rate            text    not null,
  rate_source     text    not null check (rate_source <> ''),
  rate_at         integer not null,
  amount_expected text    not null,
  address         text    not null,
  created_at      integer not null,
  unique (invoice, asset)
) strict;
insert into quotes_new (seq, invoice, asset, rate, rate_source, rate_at, amount_expected, address, created_at)
select seq, invoice, asset, rate, 'fixed', created_at, amount_expected, address, created_at from quotes;
drop table quotes;
alter table quotes_new rename to quotes;

create table payments_new (
  seq           integer primary key,
  id            text    not null unique,
  invoice       integer not null references invoices (seq),
  quote         integer not null references quotes (seq),
  observation   integer not null unique references observations (seq),
  -- judged once, when the payment is recorded: the quote's, where it came in time
  rate          text    not null,
  rate_source   text    not null check (rate_source <> ''),
  rate_at       integer not null,
  value         integer not null check (value >= 0),
  on_time       integer not null check (on_time in (0, 1)),
  -- 1 once it has ever been confirmed
  was_confirmed integer not null check (was_confirmed in (0, 1)),
  -- from when it counts: when it was seen, or what it replaces
  seen_at       integer not null,
  created_at    integer not null
) strict;
insert into payments_new (seq, id, invoice, quote, observation, rate, rate_source, rate_at, value, on_time, was_confirmed,
  seen_at, created_at)
select p.seq, p.id, p.invoice, p.quote, p.observation, p.rate, 'fixed', iif(p.on_time, q.created_at, p.created_at), p.value,
  p.on_time, p.was_confirmed, p.seen_at, p.created_at
from payments p join quotes q on q.seq = p.quote;
drop table payments;
alter table payments_new rename to payments;
create index payments_of_invoice on payments (invoice);

create table deposits_new (
  seq           integer primary key,
  id            text    not null unique,
  account       integer not null references accounts (seq),
  mode          text    not null check (mode in ('live', 'test')),
  customer      integer not null references customers (seq),
  observation   integer not null unique references observations (seq),
  -- shown from the first sighting, fixed when it is first in a block
  rate          text    not null,
  rate_source   text    not null check (rate_source <> ''),
  rate_at       integer not null,
  fixed_at      integer,
  -- EUR cents
  gross         integer not null check (gross >= 0),
  fee           integer not null check (fee between 0 and gross),
  -- 1 once it has ever been confirmed
  was_confirmed integer not null check (was_confirmed in (0, 1)),
  created_at    integer not null,
  check (was_confirmed = 0 or fixed_at is not null)
) strict;
-- Until here a deposit was priced when it was seen, and stayed so. When it was confirmed first, its sale says.
insert into deposits_new (seq, id, account, mode, customer, observation, rate, rate_source, rate_at, fixed_at, gross, fee,
  was_confirmed, created_at)
select d.seq, d.id, d.account, d.mode, d.customer, d.observation, d.rate, 'fixed', d.created_at,
  iif(d.was_confirmed, coalesce((select min(l.created_at) from ledger l where l.deposit = d.seq and l.kind = 'sale'),
    o.confirmed_at, d.created_at), null),
  d.gross, d.fee, d.was_confirmed, d.created_at
from deposits d join observations o on o.seq = d.observation;
drop table deposits;
alter table deposits_new rename to deposits;
create index deposits_of_account on deposits (account, mode, seq);
create index deposits_of_customer on deposits (customer, seq);
