-- Live mode has rates: what each source said last, and the newest rate that followed from it. A rate is worked out from
-- the figures whenever it is asked for, as it depends on how old they are by then.

-- Where rates come from. One that is configured no longer has no row.
create table rate_sources (
  source   text    not null primary key check (source <> ''),
  -- when it was asked last, and when it answered last
  tried_at integer not null,
  told_at  integer,
  -- why it told nothing when it was asked last
  problem  text
) strict, without rowid;

-- What a source said last that one coin costs. A coin is known by its symbol: it costs the same on all its chains.
create table rate_figures (
  coin     text    not null,
  currency text    not null check (currency in ('EUR', 'USD')),
  source   text    not null references rate_sources (source) on delete cascade,
  rate     text    not null,
  -- the pairs that it follows from
  via      text    not null,
  at       integer not null,
  primary key (coin, currency, source)
) strict, without rowid;

-- The newest rate that was ever known, for money that has come while none is fresh; with what it followed from, as JSON.
create table rates_known (
  coin          text    not null,
  currency      text    not null check (currency in ('EUR', 'USD')),
  rate          text    not null,
  rate_source   text    not null check (rate_source <> ''),
  rate_at       integer not null,
  rate_evidence text    not null check (json_valid(rate_evidence)),
  primary key (coin, currency)
) strict, without rowid;

-- By how much the rate of an account is lower than what was told, in basis points.
alter table accounts add column rate_spread_bps integer not null default 0 check (rate_spread_bps between 0 and 2000);

-- What is priced keeps the spread that is in its rate, and what that followed from, as JSON: each source's figure and its
-- time. What was priced until here followed from the fixed table.
alter table quotes add column rate_spread_bps integer not null default 0 check (rate_spread_bps between 0 and 2000);
alter table quotes add column rate_evidence text not null default '[]' check (json_valid(rate_evidence));
alter table payments add column rate_spread_bps integer not null default 0 check (rate_spread_bps between 0 and 2000);
alter table payments add column rate_evidence text not null default '[]' check (json_valid(rate_evidence));
alter table deposits add column rate_spread_bps integer not null default 0 check (rate_spread_bps between 0 and 2000);
alter table deposits add column rate_evidence text not null default '[]' check (json_valid(rate_evidence));
