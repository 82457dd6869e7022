-- What was seen on a chain stands once: in `observations`, by the place where it was seen. What it came to (a payment, a
-- deposit, a transfer of our own, a payment that matched nothing) points to it, and each observation has exactly one
-- such owner. The tables are made anew: their keys held what is an observation's now.
create table observations (
  seq          integer primary key,
  mode         text    not null check (mode in ('live', 'test')),
  chain        text    not null,
  txid         text    not null,
  -- counted inside the transaction, so that it survives a reorganisation
  position     integer not null check (position >= 0),
  asset        text    not null,
  address      text    not null,
  amount       text    not null,
  state        text    not null check (state in ('seen', 'confirmed', 'dropped')),
  seen_at      integer not null,
  confirmed_at integer,
  block_height integer check (block_height >= 0),
  block_hash   text,
  -- where the money comes from: a JSON array of addresses, of outputs as [txid, position], and null for money that was
  -- newly made; null: not looked at
  spends       text    check (json_valid(spends)),
  check ((state = 'confirmed') = (confirmed_at is not null)),
  check ((block_height is null) = (block_hash is null)),
  unique (mode, chain, txid, position)
) strict;

insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at, confirmed_at)
select p.mode, p.chain, p.txid, p.position, p.asset, q.address, p.amount, p.state, p.seen_at, p.confirmed_at
from payments p join quotes q on q.seq = p.quote order by p.seq;
insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at, confirmed_at)
select mode, chain, txid, position, asset, address, amount, iif(status = 'detected', 'seen', status), created_at, confirmed_at
from deposits order by seq;
insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at)
select mode, chain, txid, position, asset, address, amount, 'seen', seen_at from unmatched_payments order by seq;

create table payments_new (
  seq           integer primary key,
  id            text    not null unique,
  invoice       integer not null references invoices (seq),
  quote         integer not null references quotes (seq),
  observation   integer not null unique references observations (seq),
  -- judged once, when the payment is recorded
  rate          text    not null,
  value         integer not null check (value >= 0),
  on_time       integer not null check (on_time in (0, 1)),
  -- 1 once it has ever been confirmed
  was_confirmed integer not null check (was_confirmed in (0, 1)),
  -- from when it counts: when it was seen, or what it replaces
  seen_at       integer not null,
  created_at    integer not null
) strict;
insert into payments_new (seq, id, invoice, quote, observation, rate, value, on_time, was_confirmed, seen_at, created_at)
select p.seq, p.id, p.invoice, p.quote, o.seq, p.rate, p.value, p.on_time, p.was_confirmed, p.seen_at, p.created_at
from payments p join observations o
  on o.mode = p.mode and o.chain = p.chain and o.txid = p.txid and o.position = p.position;
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
  -- shown from the first sighting, fixed when it is first confirmed
  rate          text    not null,
  -- EUR cents
  gross         integer not null check (gross >= 0),
  fee           integer not null check (fee between 0 and gross),
  -- 1 once it has ever been confirmed
  was_confirmed integer not null check (was_confirmed in (0, 1)),
  created_at    integer not null
) strict;
insert into deposits_new (seq, id, account, mode, customer, observation, rate, gross, fee, was_confirmed, created_at)
select d.seq, d.id, d.account, d.mode, d.customer, o.seq, d.rate, d.gross, d.fee, d.was_confirmed, d.created_at
from deposits d join observations o
  on o.mode = d.mode and o.chain = d.chain and o.txid = d.txid and o.position = d.position;
drop table deposits;
alter table deposits_new rename to deposits;
create index deposits_of_account on deposits (account, mode, seq);
create index deposits_of_customer on deposits (customer, seq);

create table unmatched_payments_new (
  seq         integer primary key,
  id          text    not null unique,
  observation integer not null unique references observations (seq),
  reason      text    not null check (reason in ('unknown_address', 'unquoted_coin', 'dust', 'too_large', 'no_rate',
                'coinbase')),
  -- whose address it is, where it is somebody's; an invoice's account, too
  account     integer references accounts (seq),
  invoice     integer references invoices (seq),
  -- when a person looked at it, and what that came to
  resolved_at integer,
  note        text    check (note <> ''),
  check (reason not in ('unquoted_coin', 'dust') or invoice is not null),
  check ((reason = 'unknown_address') <= (account is null)),
  check (invoice is null or account is not null),
  check ((resolved_at is null) = (note is null))
) strict;
insert into unmatched_payments_new (seq, id, observation, reason, account, invoice, resolved_at, note)
select u.seq, u.id, o.seq, u.reason, u.account, u.invoice, u.resolved_at, u.note
from unmatched_payments u join observations o
  on o.mode = u.mode and o.chain = u.chain and o.txid = u.txid and o.position = u.position;
drop table unmatched_payments;
alter table unmatched_payments_new rename to unmatched_payments;
create index unmatched_payments_open on unmatched_payments (seq) where resolved_at is null;

-- Up to when a chain has been looked at, where that is not the clock. An invoice that can be paid on such a chain is not
-- closed by time: what was paid in time counts as in time, however late it is noticed.
create table chains (
  mode       text    not null check (mode in ('live', 'test')),
  chain      text    not null,
  scanned_to integer not null,
  primary key (mode, chain)
) strict;

-- Money of our own that moves: what our addresses send, and what addresses send that the operator has declared as own
-- (gas for a sweep, say). It is seen like any other, and books nothing.
create table own_addresses (
  mode       text    not null check (mode in ('live', 'test')),
  pool       text    not null,
  address    text    not null,
  created_at integer not null,
  primary key (mode, pool, address)
) strict;
create table own_transfers (
  seq         integer primary key,
  id          text    not null unique,
  observation integer not null unique references observations (seq)
) strict;

-- What derives addresses: each index of a wallet is handed out once. A simulated pool has one wallet in each mode, whose
-- addresses nobody holds the keys of.
create table wallets (
  seq        integer primary key,
  mode       text    not null check (mode in ('live', 'test')),
  pool       text    not null,
  network    text    not null check (network in ('simulated', 'main', 'test')),
  next_index integer not null check (next_index >= 0)
) strict;
create unique index wallets_simulated on wallets (mode, pool) where network = 'simulated';
insert into wallets (mode, pool, network, next_index)
select mode, pool, 'simulated', next_index from address_counters order by mode, pool;
drop table address_counters;

-- Where an address comes from; nowhere where it was imported. Of older files that is worked out behind this.
alter table addresses add column wallet integer references wallets (seq);
alter table addresses add column wallet_index integer check (wallet_index >= 0 and (wallet is null) = (wallet_index is null));
-- what an output holds that pays to it, on chains whose outputs hold scripts
alter table addresses add column script blob;
create unique index addresses_of_wallet on addresses (wallet, wallet_index) where wallet is not null;
