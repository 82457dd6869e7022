-- Money that a contract sent where no node tells of it, as a person claims it: whoever follows the chain asks its node for
-- the transaction.
create table claims (
  seq          integer primary key,
  id           text    not null unique,
  chain        text    not null references chain_cursors (chain),
  txid         text    not null,
  asset        text    not null,
  address      text    not null,
  amount       text    not null,
  -- which of several equal ones in the transaction
  ordinal      integer not null check (ordinal >= 1),
  asked_by     text    not null,
  asked_at     integer not null,
  -- what came of it, and when; nothing while the node has not been asked
  outcome      text    check (outcome in ('recorded', 'known', 'refused')),
  ended_at     integer,
  reason       text    check (reason <> ''),
  -- what it was taken in as, or was known as
  observation  integer references observations (seq),
  -- the position at which a node told of the same later
  met_position integer check (met_position >= 0),
  check ((outcome is null) = (ended_at is null)),
  check ((outcome is 'refused') = (reason is not null)),
  check ((outcome in ('recorded', 'known')) is not (observation is null)),
  check (met_position is null or outcome is 'recorded')
) strict;
create index claims_open on claims (chain, seq) where outcome is null;
create index claims_of_transaction on claims (chain, txid);

-- Where no node tells what contracts send, what addresses have is looked at in turn: up to which address, and when last.
create table balance_walks (
  chain     text    primary key references chain_cursors (chain),
  address   text    not null,
  looked_at integer not null
) strict;
-- Addresses that have more than is known to have come to them.
create table unexplained (
  chain   text    not null references chain_cursors (chain),
  address text    not null,
  asset   text    not null,
  balance text    not null,
  known   text    not null,
  -- behind which block
  height  integer not null check (height >= 0),
  seen_at integer not null,
  primary key (chain, address)
) strict, without rowid;
create index observations_to on observations (chain, address) where mode = 'live';
