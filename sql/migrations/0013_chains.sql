-- How far each real chain has been followed. A chain without a row here has not been begun with; how far back in time that
-- holds invoices is in `chains`, which the sandbox's simulated chains use, too.
create table chain_cursors (
  chain           text    primary key,
  -- what its first node said that it is of; a node of another network is refused
  network         text    not null check (network <> ''),
  -- the last block that was read, and the time in it
  height          integer not null check (height >= 0),
  hash            text    not null check (hash <> ''),
  time            integer not null,
  -- the last block that was read for good: the same on chains with outputs, else the last that was final
  complete_height integer not null check (complete_height between 0 and height),
  complete_hash   text    not null check (complete_hash <> ''),
  -- the newest block of the node at the last step, and when that was
  head_height     integer not null check (head_height >= 0),
  head_time       integer not null,
  stepped_at      integer not null,
  -- why it is not followed any more
  stopped         text    check (stopped <> '')
) strict;

-- The hashes of blocks that can still be given up: what a reorganisation is told by.
create table chain_blocks (
  chain  text    not null references chain_cursors (chain),
  height integer not null check (height >= 0),
  hash   text    not null check (hash <> ''),
  primary key (chain, height)
) strict, without rowid;

-- Blocks that a person wants to be read again, one order at a time for each chain.
create table rescans (
  seq         integer primary key,
  chain       text    not null references chain_cursors (chain),
  from_height integer not null check (from_height >= 0),
  -- the next block that is read, and the hash of the one before, once one has been
  next_height integer not null check (next_height >= from_height),
  last_hash   text,
  asked_at    integer not null,
  ended_at    integer
) strict;
create unique index rescans_open on rescans (chain) where ended_at is null;

-- Since when a transaction that is in no block is not in the mempool, either; of what was dropped, since when it is gone.
alter table observations add column vanished_at integer;
-- what a reorganisation takes back, what waits for confirmations, what may come back
create index observations_in_block on observations (chain, block_height)
where mode = 'live' and block_height is not null;
create index observations_seen on observations (chain) where mode = 'live' and state = 'seen';
create index observations_vanished on observations (chain, vanished_at) where mode = 'live' and vanished_at is not null;
