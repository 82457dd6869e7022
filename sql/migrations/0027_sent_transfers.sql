-- A payout or refund stays in processing until its chain has settled it, so the file keeps which transaction pays it, where
-- that id comes from, and what the chain has told of it.
alter table transfers add column txid_from text
  check (txid_from is null or (txid_from in ('person', 'signer', 'chain') and txid is not null));
alter table transfers add column attached_at integer check ((attached_at is null) = (txid_from is null));
-- when it was in processing for the first time
alter table transfers add column handed_over_at integer;
-- why the signer did not send it, or why that is unknown
alter table transfers add column sending_reason text check (sending_reason is null or sending is not null);
-- a signer's retry: since when, and when it is run again
alter table transfers add column retry_since integer check (retry_since is null or sending in ('retry', 'running'));
alter table transfers add column retry_at integer
  check ((retry_at is null) = (retry_since is null) and (sending is not 'retry' or retry_at is not null));
-- what made it paid: its chain, a person with a reason, or the word of whoever sent it
alter table transfers add column settled_by text
  check (settled_by is null or settled_by in ('chain', 'person', 'unchecked'));
alter table transfers add column settled_reason text check ((settled_reason is null) = (settled_by is not 'person'));
-- the block from which on its destination is watched; null until that is known
alter table transfers add column watched_from integer check (watched_from >= 0);

update transfers set txid_from = iif(sent_by is 'signer', 'signer', 'person'), attached_at = finalized_at
where txid is not null;
update transfers set settled_by = 'unchecked' where status = 'paid';

pragma writable_schema = on;
update sqlite_schema set sql = replace(replace(replace(replace(sql,
'  -- a command that was started for it: still running, or ended in a way that does not say what was sent',
'  -- a signer that was started for it: running, ended without saying what was sent (unknown), sent nothing and is run again
  -- (retry) or is not (declined); restored: an older copy of the file does not know what became of it'),
'check (sending in (''running'', ''unknown''))',
'check (sending is null or sending in (''running'', ''unknown'', ''retry'', ''declined'', ''restored''))'),
'check (status <> ''paid'' or txid is not null)',
'check (status <> ''paid'' or txid is not null or settled_by is ''person''),
  check ((settled_by is not null) = (status = ''paid'')),
  check ((txid is null) = (txid_from is null))'),
'check (sending is not ''running'' or status = ''processing''),
  -- unknown besides: restored from an older copy, so that nobody knows what became of it
',
'check (sending is null or sending = ''restored'' or status = ''processing''),
')
where type = 'table' and name = 'transfers';
pragma writable_schema = reset;

update transfers set sending = 'restored'
where sending = 'unknown' and (status <> 'processing' or not exists (select 1 from audit_log a
  where a.object_id = transfers.id and a.action = transfers.kind || '.unknown'));
update transfers set handed_over_at = ifnull((select max(a.at) from audit_log a
  where a.object_id = transfers.id and a.action = transfers.kind || '.process'),
  iif(status in ('processing', 'paid'), approved_at, null))
where approved_at is not null;

create index transfers_of_transaction on transfers (chain, txid) where txid is not null;
-- those whose chains are asked for them
create index transfers_processing on transfers (chain) where status = 'processing';

-- A transaction that is attached to payouts or refunds.
create table sent_transactions (
  seq           integer primary key,
  mode          text    not null check (mode in ('live', 'test')),
  chain         text    not null,
  txid          text    not null,
  -- absent: a node had it, and has it no more
  state         text    not null check (state in ('unseen', 'mempool', 'mined', 'absent')),
  block_height  integer,
  -- inputs, or the sender, as JSON
  spends        text    check (spends is null or json_valid(spends)),
  -- of the sender, on EVM chains
  nonce         integer check (nonce >= 0),
  is_reverted   integer not null default 0 check (is_reverted in (0, 1)),
  first_seen_at integer,
  last_seen_at  integer,
  -- when a node was asked last
  asked_at      integer,
  -- another transaction that took its inputs or its nonce, and the block of that
  gone_by       text,
  gone_height   integer,
  -- 1 once the blocks since approval were ordered to be read for it, as the node cannot be asked by id
  is_read_back  integer not null default 0 check (is_read_back in (0, 1)),
  -- what the node cannot tell, for the operator
  problem       text    check (problem <> ''),
  unique (mode, chain, txid),
  check ((state = 'mined') = (block_height is not null)),
  check ((state = 'unseen') = (last_seen_at is null) and (last_seen_at is null) = (first_seen_at is null))
) strict;

-- An output to a watched destination, of a transaction that is attached: what it counts for, or nothing while it is free.
create table sent_outputs (
  observation integer primary key references observations (seq),
  transfer    integer references transfers (seq)
) strict;
create index sent_outputs_of_transfer on sent_outputs (transfer) where transfer is not null;

-- An arrival at a destination that a person may attach to a transfer.
create table transfer_proposals (
  seq          integer primary key,
  transfer     integer not null references transfers (seq),
  txid         text    not null check (txid <> ''),
  position     integer not null check (position >= 0),
  -- base units
  amount       text    not null,
  spends       text    check (spends is null or json_valid(spends)),
  seen_at      integer not null,
  block_height integer,
  block_hash   text,
  dismissed_at integer,
  unique (transfer, txid, position),
  check ((block_height is null) = (block_hash is null))
) strict;
create index transfer_proposals_by_transaction on transfer_proposals (txid);

-- A review of a transfer that has ended: open until it ends by itself, or by a person's act.
create table transfer_reviews (
  seq       integer primary key,
  id        text    not null unique,
  transfer  integer not null references transfers (seq),
  kind      text    not null check (kind in ('overpaid', 'gone', 'arrived', 'beyond_reach')),
  opened_at integer not null,
  ended_at  integer,
  -- what was found, and how it ended
  problem   text    not null check (problem <> ''),
  reason    text    check (reason <> ''),
  check ((ended_at is null) = (reason is null))
) strict;
create unique index transfer_reviews_open on transfer_reviews (transfer, kind) where ended_at is null;
create index transfer_reviews_of_transfer on transfer_reviews (transfer);
