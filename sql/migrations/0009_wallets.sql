-- A wallet of live mode is an extended public key: it is known by its point and its chain code, however they are spelt.
-- Addresses are at m/0/index of it. No private key is ever in this file.
create table wallets_new (
  seq         integer primary key,
  mode        text    not null check (mode in ('live', 'test')),
  pool        text    not null,
  -- any: addresses are the same on every network of the pool's chains
  network     text    not null check (network in ('simulated', 'main') or network in ('test', 'regtest') or network = 'any'),
  -- indexes from 2^31 on are hardened: no public key derives them
  next_index  integer not null check (next_index between 0 and 2147483648),
  -- all that follows is null of simulated ones
  id          text    unique,
  name        text    check (name <> ''),
  -- null on chains whose outputs hold no scripts
  script      text    check (script in ('pkh', 'sh-wpkh') or script in ('wpkh', 'tr')),
  key         blob    check (length(key) = 33),
  chain_code  blob    check (length(chain_code) = 32),
  -- where it began: what is before was handed out elsewhere
  first_index integer check (first_index between 0 and next_index),
  created_at  integer,
  -- when it was added last: of several that are not retired the last one hands out
  added_at    integer,
  -- it hands out nothing more, and stays watched
  retired_at  integer,
  check ((network = 'simulated') = (id is null)),
  check ((id is null) = (key is null) and (id is null) = (chain_code is null) and (id is null) = (first_index is null)),
  check ((id is null) = (created_at is null) and (id is null) = (added_at is null)),
  check (id is not null or (name is null and script is null and retired_at is null)),
  check (id is null or mode = 'live'),
  check (id is null or (network = 'any') = (script is null))
) strict;
insert into wallets_new (seq, mode, pool, network, next_index)
select seq, mode, pool, network, next_index from wallets;
drop table wallets;
alter table wallets_new rename to wallets;
create unique index wallets_simulated on wallets (mode, pool) where network = 'simulated';
create unique index wallets_of_key on wallets (mode, pool, key, chain_code) where key is not null;

-- What came to an address of live mode, for the list that its owner sweeps by.
create index observations_live on observations (address) where mode = 'live';
