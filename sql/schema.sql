-- The schema of version 1. From the first release on, this file stays as it is: see `src/store/migrate.rs`.
--
-- Rules for every table:
--   * `seq` is the order of insertion and the key inside the file. `id` is the name outside it.
--   * Times are integer milliseconds since 1970 in UTC. Fiat amounts are integer cents. Coin amounts are base units as
--     decimal text, because they exceed 64 bits. Never `sum()` them in SQL.
--   * `mode` is part of every key that matters, so live and test rows never mix.
--   * A CHECK that runs for every invoice or payment compares with at most two constants in one list. For a longer list
--     SQLite builds a table in memory for each row that it writes.
--   * A CHECK tests a nullable JSON column for null first. `json_valid(null)` is 0 before SQLite 3.45, so an older
--     `sqlite3` would leave such rows out of a copy.

-- The letters "COFR" in the header of the file, by which the program recognises its files.
pragma application_id = 0x434f4652;


-- The service

-- One row: the kind of the file and settings of the whole service.
create table file (
  id               integer primary key check (id = 1),
  kind             text    not null check (kind in ('sandbox', 'production')),
  -- key of the HMAC of checkout tokens: 32 random bytes
  checkout_secret  blob    not null check (length(checkout_secret) = 32),
  maintenance      integer not null default 0 check (maintenance in (0, 1)),
  -- number of times that a server continued from a restored copy
  restored         integer not null default 0 check (restored >= 0),
  -- latest time at which a stored status was judged by time
  last_tick_at     integer not null default 0,
  -- the sandbox's clock: offset from real time, and the time at which it stands still
  clock_offset_ms  integer not null default 0,
  clock_frozen_at  integer,
  -- in a snapshot of a sandbox: the time of its clock
  snapshot_at      integer,
  -- time by which the wall clock is ahead of the server's clock, while the wall clock is not trusted
  clock_ahead_ms   integer,
  -- number of times that a person accepted the wall clock
  clock_accepted   integer not null default 0,
  -- the single-use link that creates the first operator
  setup_hash       blob    check (length(setup_hash) = 32),
  setup_expires_at integer
) strict;

-- Coins that the operator has switched off.
create table coins_off (
  asset text primary key,
  since integer not null
) strict;

-- Responses of POSTs that create, kept for a replay.
create table idempotency (
  -- null: the request is about an object of no account
  account    integer references accounts (seq),
  mode       text    not null check (mode in ('live', 'test')),
  route      text    not null,
  client_key text    not null check (client_key <> ''),
  -- ids in the path, separated by slashes
  path_ids   text    not null,
  request    text    not null,
  outcome    text    not null check (outcome in ('created', 'existing')),
  answer     text    not null,
  created_at integer not null
) strict;
create unique index idempotency_by_key on idempotency (coalesce(account, 0), mode, route, client_key);
create index idempotency_by_age on idempotency (created_at);


-- Accounts and people

create table accounts (
  seq                     integer primary key,
  id                      text    not null unique,
  name                    text    not null check (name <> ''),
  status                  text    not null check (status in ('pending', 'active', 'suspended', 'rejected')),
  fee_bps                 integer not null check (fee_bps between 0 and 10000),
  settlement_enabled      integer not null check (settlement_enabled in (0, 1)),
  customers_enabled       integer not null check (customers_enabled in (0, 1)),
  -- maximum number of servers at once; 0: the account may not order servers
  server_quota            integer not null check (server_quota >= 0),
  payout_asset            text    not null,
  payout_min              integer not null check (payout_min >= 0),
  payout_daily_max        integer not null check (payout_daily_max >= 0),
  -- maximum that the signer gets in 24 hours, in cents of each currency; null: no limit
  signer_max              integer check (signer_max >= 0),
  invoice_max             integer not null check (invoice_max > 0),
  -- tolerance within which an amount counts as paid, in basis points of the price
  under_bps               integer not null check (under_bps between 0 and 2000),
  over_bps                integer not null check (over_bps between 0 and 2000),
  -- difference between the market rate and the account's rate, in basis points
  rate_spread_bps         integer not null check (rate_spread_bps between 0 and 2000),
  ttl_seconds             integer not null check (ttl_seconds between 60 and 86400),
  success_url             text,
  cancel_url              text,
  branding_color          text    check (branding_color glob '#[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]'),
  branding_logo_url       text,
  checkout_lang           text    not null check (checkout_lang <> ''),
  -- coins that the checkout lists first: a JSON array of their ids, in order
  favorite_coins          text    not null check (json_valid(favorite_coins)),
  -- lines below the merchant's name on receipts: a JSON array of texts
  address_lines           text    not null check (json_valid(address_lines)),
  -- origins of the pages that may use the public key: a JSON array; empty: all
  allowed_origins         text    not null check (json_valid(allowed_origins)),
  -- signs deliveries to an invoice's own webhookUrl
  legacy_secret           text    not null check (legacy_secret <> ''),
  -- the previous secret, which also signs until the second time
  legacy_secret_old       text,
  legacy_secret_old_until integer,
  created_at              integer not null
) strict;

create table payout_addresses (
  account    integer not null references accounts (seq),
  chain      text    not null,
  address    text    not null,
  changed_at integer not null,
  primary key (account, chain)
) strict;
-- A wallet skips an index whose address receives payouts.
create index payout_addresses_by_address on payout_addresses (address);

-- A key is stored as its SHA-256. It has 178 bits of entropy, so a slow hash would protect nothing.
create table keys (
  id           text    primary key,
  account      integer not null references accounts (seq),
  class        text    not null check (class in ('secret', 'public', 'legacy')),
  mode         text    not null check (mode in ('live', 'test')),
  hash         blob    not null unique check (length(hash) = 32),
  last4        text    not null,
  created_at   integer not null,
  last_used_at integer,
  -- end of a key that was rolled
  expires_at   integer,
  revoked_at   integer
) strict;

create table reseller_tokens (
  id           text    primary key,
  account      integer not null references accounts (seq),
  hash         blob    not null unique check (length(hash) = 32),
  last4        text    not null,
  created_at   integer not null,
  last_used_at integer,
  revoked_at   integer
) strict;

create table users (
  seq                  integer primary key,
  id                   text    not null unique,
  email                text    not null unique collate nocase check (email <> ''),
  -- PHC string of argon2id
  password_hash        text    not null check (password_hash glob '$argon2id$*'),
  role                 text    not null check (role in ('operator', 'merchant')),
  -- the only account of a merchant's user
  account              integer references accounts (seq),
  -- secret that an authenticator app shares with Coffer (TOTP, RFC 6238)
  second_factor_secret blob    check (length(second_factor_secret) = 20),
  -- time from which the second factor is required; null until the user has entered a first code
  second_factor_at     integer check (second_factor_at is null or second_factor_secret is not null),
  created_at           integer not null,
  disabled_at          integer,
  check ((role = 'merchant') = (account is not null))
) strict;

-- Codes that replace a lost second factor: SHA-256 of 80 random bits each. A used code is deleted.
create table recovery_codes (
  hash blob    primary key check (length(hash) = 32),
  user integer not null references users (seq)
) strict;
create index recovery_codes_of_user on recovery_codes (user);

-- Steps of 30 seconds whose codes were used, so that no code is accepted twice. The newest step is not enough: after the
-- clock was ahead, later codes have lower steps.
create table used_steps (
  user integer not null references users (seq),
  step integer not null check (step >= 0),
  primary key (user, step)
) strict, without rowid;

-- A session is stored as the SHA-256 of its cookie.
create table sessions (
  hash        blob    primary key check (length(hash) = 32),
  user        integer not null references users (seq),
  created_at  integer not null,
  expires_at  integer not null check (expires_at > created_at),
  -- time at which the password was last entered, by real time even if a sandbox's clock was moved
  password_at integer not null
) strict;
create index sessions_by_end on sessions (expires_at);

-- The newest eight clients by which each user signed in. Password guesses of other clients do not lock these out.
create table known_clients (
  seq    integer primary key,
  user   integer not null references users (seq),
  -- SHA-256 of the user, the password's hash, the second factor and the client's address
  client blob    not null unique check (length(client) = 32)
) strict;
create index known_clients_of_user on known_clients (user, seq);

-- Acts of people and of the program. Rows are only added.
create table audit_log (
  seq       integer primary key,
  at        integer not null,
  -- the user's email, or the name of another actor
  actor     text    not null check (actor <> ''),
  action    text    not null check (action <> ''),
  account   integer references accounts (seq),
  object_id text,
  -- JSON object without secrets
  detail    text    not null check (json_valid(detail)),
  -- hashes of the values that the act left: a JSON object by the name of each value; null for a removed value
  states    text    check (states is null or json_valid(states)),
  -- version and SHA-256 of this row's fields and of the row before
  link      blob    not null check (length(link) = 33)
) strict;
create index audit_log_of_account on audit_log (account, seq);
create index audit_log_with_states on audit_log (seq) where states is not null;

-- Last rows of the hash chains of a restored copy and of the file that it replaced.
create table restored_logs (
  -- the entry about the restore
  entry        integer not null references audit_log (seq),
  log          text    not null check (log in ('ledger', 'audit_log')),
  copy_seq     integer not null check (copy_seq >= 0),
  -- null if the replaced file could not be read
  replaced_seq integer check (replaced_seq >= 0),
  primary key (entry, log)
) strict, without rowid;


-- Wallets and addresses

-- A wallet of live mode is an extended public key. It is identified by its point and its chain code, however these are
-- written. Addresses are at m/0/index. No private key is ever in this file. A simulated pool has one wallet in each mode.
create table wallets (
  seq           integer primary key,
  mode          text    not null check (mode in ('live', 'test')),
  pool          text    not null,
  -- any: addresses are the same on every network of the pool's chains
  network       text    not null check (network in ('simulated', 'main') or network in ('test', 'regtest') or network = 'any'),
  -- indexes from 2^31 on are hardened: no public key derives them
  next_index    integer not null check (next_index between 0 and 2147483648),
  -- lower indexes may have been handed out after a copy that was restored
  least_index   integer not null default 0 check (least_index between 0 and next_index),
  -- null for simulated wallets, like all columns below
  id            text    unique,
  name          text    check (name <> ''),
  -- null on chains whose outputs have no scripts
  script        text    check (script in ('pkh', 'sh-wpkh') or script in ('wpkh', 'tr')),
  key           blob    check (length(key) = 33),
  chain_code    blob    check (length(chain_code) = 32),
  -- lower indexes were handed out elsewhere
  first_index   integer check (first_index between 0 and next_index),
  created_at    integer,
  -- of several wallets that are not retired, the one added last hands out
  added_at      integer,
  -- a retired wallet hands out no addresses, and stays watched
  retired_at    integer,
  -- a payment arrived at an index that was not handed out yet: the wallet hands out no addresses until it is added again
  stopped_at    integer,
  -- highest such index
  stopped_index integer check ((stopped_index is null) = (stopped_at is null)
    and (stopped_index is null or (stopped_index between 0 and 2147483647 and id is not null))),
  check ((network = 'simulated') = (id is null)),
  check ((id is null) = (key is null) and (id is null) = (chain_code is null) and (id is null) = (first_index is null)),
  check ((id is null) = (created_at is null) and (id is null) = (added_at is null)),
  check (id is not null or (name is null and script is null and retired_at is null)),
  check (id is null or mode = 'live'),
  check (id is null or (network = 'any') = (script is null))
) strict;
create unique index wallets_simulated on wallets (mode, pool) where network = 'simulated';
create unique index wallets_of_key on wallets (mode, pool, key, chain_code) where key is not null;

-- Live addresses that the operator imported, for chains whose addresses cannot be derived from a public key.
create table pool_addresses (
  seq         integer primary key,
  pool        text    not null,
  address     text    not null,
  -- retired: a restored copy does not know whether the address was handed out since
  state       text    not null check (state in ('free', 'assigned', 'retired')),
  imported_at integer not null,
  -- the account that took the address, and when: one account must not empty a pool that others need
  account     integer references accounts (seq),
  assigned_at integer,
  check ((state = 'assigned') = (account is not null) and (account is null) = (assigned_at is null)),
  unique (pool, address)
) strict;
create index pool_addresses_free on pool_addresses (pool, seq) where state = 'free';
create index pool_addresses_taken on pool_addresses (account, pool, assigned_at) where assigned_at is not null;
create index pool_addresses_imported on pool_addresses (pool, imported_at);

-- A deposit address belongs to its invoice or customer for ever. A row is neither deleted nor given to another owner.
create table addresses (
  seq          integer primary key,
  mode         text    not null check (mode in ('live', 'test')),
  pool         text    not null,
  address      text    not null,
  invoice      integer references invoices (seq),
  customer     integer references customers (seq),
  -- null for an imported address
  wallet       integer references wallets (seq),
  wallet_index integer check (wallet_index >= 0 and (wallet is null) = (wallet_index is null)),
  -- script of an output to this address, on chains whose outputs have scripts
  script       blob,
  check ((invoice is null) <> (customer is null)),
  unique (mode, pool, address),
  unique (invoice, pool),
  unique (customer, pool)
) strict;
create unique index addresses_of_wallet on addresses (wallet, wallet_index) where wallet is not null;

-- Addresses that the operator declared as own. Money from these addresses is recorded, and books nothing.
create table own_addresses (
  mode       text    not null check (mode in ('live', 'test')),
  pool       text    not null,
  address    text    not null,
  created_at integer not null,
  primary key (mode, pool, address)
) strict;


-- Rates

-- Sources of rates. A source that is no longer configured has no row.
create table rate_sources (
  source   text    not null primary key check (source <> ''),
  -- time of the last request, and of the last answer
  tried_at integer not null,
  told_at  integer,
  -- reason why the last request failed
  problem  text
) strict, without rowid;

-- The newest price of each coin at each source. A coin is identified by its symbol: it costs the same on all chains.
create table rate_figures (
  coin     text    not null,
  currency text    not null check (currency in ('EUR', 'USD')),
  source   text    not null references rate_sources (source) on delete cascade,
  rate     text    not null,
  -- pairs from which the rate was computed
  via      text    not null,
  at       integer not null,
  primary key (coin, currency, source)
) strict, without rowid;

-- The newest known rate, for money that arrives while no rate is fresh. The evidence is JSON: figure and time of each
-- source.
create table rates_known (
  coin          text    not null,
  currency      text    not null check (currency in ('EUR', 'USD')),
  rate          text    not null,
  rate_source   text    not null check (rate_source <> ''),
  rate_at       integer not null,
  rate_evidence text    not null check (json_valid(rate_evidence)),
  primary key (coin, currency)
) strict, without rowid;


-- Chains

-- Payments as seen on a chain, each once. Every observation has exactly one owner: a payment, a deposit, an own transfer,
-- an unmatched payment, or an output of a payout or refund.
create table observations (
  seq           integer primary key,
  mode          text    not null check (mode in ('live', 'test')),
  chain         text    not null,
  txid          text    not null,
  -- counted inside the transaction, so that it survives a reorg
  position      integer not null check (position >= 0),
  asset         text    not null,
  address       text    not null,
  amount        text    not null,
  state         text    not null check (state in ('seen', 'confirmed') or state = 'dropped'),
  seen_at       integer not null,
  confirmed_at  integer,
  block_height  integer check (block_height >= 0),
  block_hash    text,
  -- origin of the money: a JSON array of addresses, of outputs as [txid, position], and null for newly created money;
  -- null: unknown
  spends        text    check (spends is null or json_valid(spends)),
  -- time from which the transaction is neither in a block nor in the mempool
  vanished_at   integer,
  -- time from which its next step cannot be booked, because a balance would exceed its range
  unbookable_at integer,
  check ((state = 'confirmed') = (confirmed_at is not null)),
  check ((block_height is null) = (block_hash is null)),
  unique (mode, chain, txid, position)
) strict;
create index observations_live on observations (address) where mode = 'live';
create index observations_to on observations (chain, address) where mode = 'live';
-- observations that a reorg reverts, that wait for confirmations, and that may come back
create index observations_in_block on observations (chain, block_height)
where mode = 'live' and block_height is not null;
create index observations_seen on observations (chain) where mode = 'live' and state = 'seen';
create index observations_vanished on observations (chain, vanished_at) where mode = 'live' and vanished_at is not null;

-- Movements between the operator's own addresses.
create table own_transfers (
  seq         integer primary key,
  id          text    not null unique,
  observation integer not null unique references observations (seq)
) strict;

-- Payments without a recipient, for a person to decide. The decision stays in its row, so that it can be undone. An
-- assigned observation is owned by its payment or deposit.
create table unmatched_payments (
  seq         integer primary key,
  id          text    not null unique,
  observation integer not null unique references observations (seq),
  reason      text    not null check (reason in ('unknown_address', 'unquoted_coin', 'dust', 'too_large', 'no_rate',
                'coinbase')),
  -- owner of the address, if it has one; for an invoice also the invoice's account
  account     integer references accounts (seq),
  invoice     integer references invoices (seq),
  -- decision of a person, and its time
  outcome     text    check (outcome in ('assigned', 'returned', 'dismissed')),
  resolved_at integer,
  note        text    check (note <> ''),
  -- transaction that returned the money
  return_txid text    check (return_txid <> ''),
  check (reason not in ('unquoted_coin', 'dust') or invoice is not null),
  check ((reason = 'unknown_address') <= (account is null)),
  check (invoice is null or account is not null),
  check ((outcome is null) = (resolved_at is null)),
  check (outcome is not null or note is null),
  check (outcome is not 'dismissed' or note is not null),
  check ((outcome is 'returned') = (return_txid is not null))
) strict;
create index unmatched_payments_open on unmatched_payments (seq) where resolved_at is null;

-- Time up to which a chain was scanned, also a simulated one. An invoice that can be paid on a lagging chain does not
-- expire: a payment in time counts as in time, however late it is noticed.
create table chains (
  mode       text    not null check (mode in ('live', 'test')),
  chain      text    not null,
  scanned_to integer not null,
  primary key (mode, chain)
) strict;

-- Position up to which each real chain was followed. A chain without a row was not followed yet.
create table chain_cursors (
  chain           text    primary key,
  -- network of the first node; a node of another network is refused
  network         text    not null check (network <> ''),
  -- last block that was read, and its time
  height          integer not null check (height >= 0),
  hash            text    not null check (hash <> ''),
  time            integer not null,
  -- last block that is not read again: the same block on chains with outputs, else the last final one
  complete_height integer not null check (complete_height between 0 and height),
  complete_hash   text    not null check (complete_hash <> ''),
  -- newest block of the node at the last step, and the time of that step
  head_height     integer not null check (head_height >= 0),
  head_time       integer not null,
  stepped_at      integer not null,
  -- reason why the chain is no longer followed
  stopped         text    check (stopped <> '')
) strict;

-- Hashes of recent blocks, by which a reorg is recognised.
create table chain_blocks (
  chain  text    not null references chain_cursors (chain),
  height integer not null check (height >= 0),
  hash   text    not null check (hash <> ''),
  primary key (chain, height)
) strict, without rowid;

-- Orders to read blocks again. A chain has at most one open order.
create table rescans (
  seq         integer primary key,
  chain       text    not null references chain_cursors (chain),
  from_height integer not null check (from_height >= 0),
  -- next block to read, and the hash of the block before, once a block was read
  next_height integer not null check (next_height >= from_height),
  last_hash   text,
  asked_at    integer not null,
  ended_at    integer
) strict;
create unique index rescans_open on rescans (chain) where ended_at is null;

-- Confirmations that payments of a coin need, if the operator has set them.
create table confirmation_tiers (
  asset         text    not null check (asset <> ''),
  -- for amounts worth less than this many cents; null: for all others
  below         integer check (below > 0),
  -- null: the block must be final
  confirmations integer check (confirmations > 0)
) strict;
create unique index confirmation_tiers_of_asset on confirmation_tiers (asset, ifnull(below, 0));

-- Nodes that operators entered, one for each chain. A row stays after the removal, so that every operator is told.
create table chain_nodes (
  chain      text    primary key,
  -- URL with its login; null once it was removed
  url        text,
  -- scheme, host and port of the URL
  node       text    not null,
  -- public URL of the server at which it was entered
  public_url text    not null,
  -- `file.restored` at that time
  restored   integer not null,
  changed_at integer not null,
  changed_by text    not null,
  -- 1 if a restore removed the URL, until another is entered
  is_missing integer not null check (is_missing in (0, 1)),
  check (is_missing = 0 or url is null)
) strict, without rowid;

-- Payments by contracts that no node reports, as a person claims them. The chain's thread asks its node for the
-- transaction.
create table claims (
  seq          integer primary key,
  id           text    not null unique,
  chain        text    not null references chain_cursors (chain),
  txid         text    not null,
  asset        text    not null,
  address      text    not null,
  amount       text    not null,
  -- number among equal payments of the transaction
  ordinal      integer not null check (ordinal >= 1),
  asked_by     text    not null,
  asked_at     integer not null,
  -- result, and its time; null until the node was asked
  outcome      text    check (outcome in ('recorded', 'known', 'refused')),
  ended_at     integer,
  reason       text    check (reason <> ''),
  -- the observation that was recorded, or was known already
  observation  integer references observations (seq),
  -- position at which a node reported the same payment later
  met_position integer check (met_position >= 0),
  check ((outcome is null) = (ended_at is null)),
  check ((outcome is 'refused') = (reason is not null)),
  check ((outcome in ('recorded', 'known')) is not (observation is null)),
  check (met_position is null or outcome is 'recorded')
) strict;
create index claims_open on claims (chain, seq) where outcome is null;
create index claims_of_transaction on claims (chain, txid);

-- The last address whose balance was checked, on chains whose node does not report payments by contracts.
create table balance_walks (
  chain     text    primary key references chain_cursors (chain),
  address   text    not null,
  looked_at integer not null
) strict;

-- Addresses with a larger balance than the known payments explain.
create table unexplained (
  chain   text    not null references chain_cursors (chain),
  address text    not null,
  asset   text    not null,
  balance text    not null,
  known   text    not null,
  -- block after which the balance was read
  height  integer not null check (height >= 0),
  seen_at integer not null,
  primary key (chain, address)
) strict, without rowid;

-- Transactions and addresses that the node does not give, although it gives everything else.
create table set_aside (
  chain  text    not null references chain_cursors (chain),
  kind   text    not null check (kind in ('address', 'transaction')),
  id     text    not null,
  -- block of the transaction, where it is known
  height integer check (height >= 0),
  reason text    not null,
  since  integer not null,
  primary key (chain, kind, id)
) strict, without rowid;


-- Money in

create table payment_links (
  seq           integer primary key,
  id            text    not null unique,
  account       integer not null references accounts (seq),
  mode          text    not null check (mode in ('live', 'test')),
  name          text    not null check (name <> ''),
  -- null: the payer enters the amount
  amount        integer check (amount > 0),
  currency      text    not null check (currency in ('EUR', 'USD')),
  description   text,
  active        integer not null check (active in (0, 1)),
  -- time from which the link creates no invoice
  expires_at    integer check (expires_at > created_at),
  -- maximum number of paid invoices
  paid_uses_max integer check (paid_uses_max between 1 and 100000),
  -- URL to which payers go after payment
  redirect_url  text    check (redirect_url <> ''),
  created_at    integer not null
) strict;
create index payment_links_of_account on payment_links (account, mode, seq);

-- Pictures of payment links. The column `bytes` is last, so that SQLite reads the other columns without it.
create table payment_link_pictures (
  link   integer primary key references payment_links (seq),
  hash   text    not null check (length(hash) = 64 and hash not glob '*[^0-9a-f]*'),
  format text    not null check (format in ('png', 'jpeg', 'webp')),
  width  integer not null check (width between 1 and 2048),
  height integer not null check (height between 1 and 2048),
  bytes  blob    not null check (length(bytes) between 1 and 102400)
) strict;

create table invoices (
  seq             integer primary key,
  id              text    not null unique,
  account         integer not null references accounts (seq),
  mode            text    not null check (mode in ('live', 'test')),
  order_id        text    check (order_id <> ''),
  status          text    not null check (status in ('created', 'awaiting_payment') or status in ('detected', 'confirmed')
    or status in ('overpaid', 'underpaid') or status in ('expired', 'paid_late') or status in ('cancelled', 'failed')),
  amount          integer not null check (amount > 0),
  currency        text    not null check (currency in ('EUR', 'USD')),
  description     text,
  -- the invoice's coin, copied from its current quote
  asset           text,
  rate            text,
  amount_expected text,
  amount_received text,
  deposit_address text,
  -- the quote that was picked last; the current quote also depends on the payments
  picked_quote    integer,
  -- chains on which a live invoice can be paid in time, sorted and separated by commas; a lagging chain delays the expiry
  waits_for       text    not null check (mode = 'live' or waits_for = ''),
  redirect_url    text,
  cancel_url      text,
  webhook_url     text,
  metadata        text    not null check (json_valid(metadata)),
  customer_email  text,
  payment_link_id text,
  refunded        integer check (refunded > 0),
  -- tolerances of the account at the creation; a later change does not affect this invoice
  under_bps       integer not null check (under_bps between 0 and 2000),
  over_bps        integer not null check (over_bps between 0 and 2000),
  created_at      integer not null,
  expires_at      integer not null check (expires_at > created_at),
  confirmed_at    integer,
  cancelled_at    integer,
  -- newest time at which a person took back a payment that was assigned to it
  assignment_undone_at integer,
  check ((asset is null) = (rate is null) and (asset is null) = (amount_expected is null)
    and (asset is null) = (deposit_address is null) and (asset is null) = (picked_quote is null)),
  check ((status in ('confirmed', 'overpaid')) = (confirmed_at is not null)),
  check (status <> 'cancelled' or cancelled_at is not null),
  check (status <> 'created' or asset is null),
  check (status in ('created', 'expired') or status in ('cancelled', 'failed')
    or asset is not null)
) strict;
create index invoices_of_account on invoices (account, mode, seq);
create index invoices_by_status on invoices (account, mode, status, seq);
create unique index invoices_by_order on invoices (account, mode, order_id) where order_id is not null;
-- Emails are compared without regard to the case of ASCII letters.
create index invoices_by_email on invoices (account, mode, customer_email collate nocase, seq)
  where customer_email is not null;
-- One search for each value of `waits_for` finds the due invoices, however many invoices wait.
create index invoices_open on invoices (waits_for, expires_at) where status in ('created', 'awaiting_payment');
-- open invoices of each payment link, of which a link has a limited number
create index invoices_open_of_link on invoices (payment_link_id, expires_at)
  where payment_link_id is not null and status in ('created', 'awaiting_payment');
-- paid invoices of each payment link, in the order of payment, and those whose payment is not confirmed yet
create index invoices_paid_of_link on invoices (payment_link_id, confirmed_at)
  where payment_link_id is not null and confirmed_at is not null;
create index invoices_detected_of_link on invoices (payment_link_id)
  where payment_link_id is not null and status = 'detected';

-- Changes of an invoice, in order: a coin was picked, a payment changed its state, or the status changed.
create table invoice_steps (
  invoice integer not null references invoices (seq),
  -- number within the invoice
  step    integer not null check (step >= 1),
  at      integer not null,
  quote   integer references quotes (seq),
  payment integer references payments (seq),
  state   text    check (state in ('seen', 'confirmed') or state = 'dropped'),
  status  text    check (status in ('created', 'awaiting_payment') or status in ('detected', 'confirmed')
    or status in ('overpaid', 'underpaid') or status in ('expired', 'paid_late') or status in ('cancelled', 'failed')),
  primary key (invoice, step),
  check ((payment is null) = (state is null)),
  check ((quote is not null) + (payment is not null) + (status is not null) = 1)
) strict, without rowid;

-- A coin of an invoice at a rate. An invoice may have two quotes of a coin: at its own address, and at another address
-- whose payment a person assigned to it. The audit defines which rate sources are allowed in which mode.
create table quotes (
  seq             integer primary key,
  invoice         integer not null references invoices (seq),
  asset           text    not null,
  rate            text    not null,
  rate_source     text    not null check (rate_source <> ''),
  rate_at         integer not null,
  -- the account's spread, which the rate includes
  rate_spread_bps integer not null check (rate_spread_bps between 0 and 2000),
  -- figure and time of each source: JSON
  rate_evidence   text    not null check (json_valid(rate_evidence)),
  amount_expected text    not null,
  address         text    not null,
  -- 1 if the address is not the invoice's
  given           integer not null check (given in (0, 1)),
  -- 1 if only the assignment of a payment created it: it is deleted with the last such payment
  by_person       integer not null default 0 check (by_person in (0, 1)),
  created_at      integer not null,
  unique (invoice, asset, given)
) strict;

create table payments (
  seq             integer primary key,
  id              text    not null unique,
  invoice         integer not null references invoices (seq),
  quote           integer not null references quotes (seq),
  observation     integer not null unique references observations (seq),
  -- valued once, when the payment is recorded: the quote's rate if the payment is in time
  rate            text    not null,
  rate_source     text    not null check (rate_source <> ''),
  rate_at         integer not null,
  rate_spread_bps integer not null check (rate_spread_bps between 0 and 2000),
  rate_evidence   text    not null check (json_valid(rate_evidence)),
  value           integer not null check (value >= 0),
  on_time         integer not null check (on_time in (0, 1)),
  -- 1 once it was confirmed for the first time
  was_confirmed   integer not null check (was_confirmed in (0, 1)),
  -- time from which it counts: its sighting, or that of the payment it replaces
  seen_at         integer not null,
  created_at      integer not null
) strict;
create index payments_of_invoice on payments (invoice);

create table customers (
  seq        integer primary key,
  account    integer not null references accounts (seq),
  mode       text    not null check (mode in ('live', 'test')),
  ref        text    not null check (ref <> ''),
  created_at integer not null,
  unique (account, mode, ref)
) strict;

create table deposits (
  seq             integer primary key,
  id              text    not null unique,
  account         integer not null references accounts (seq),
  mode            text    not null check (mode in ('live', 'test')),
  customer        integer not null references customers (seq),
  observation     integer not null unique references observations (seq),
  -- provisional until `fixed_at`, when the deposit is in a block for the first time
  rate            text    not null,
  rate_source     text    not null check (rate_source <> ''),
  rate_at         integer not null,
  rate_spread_bps integer not null check (rate_spread_bps between 0 and 2000),
  rate_evidence   text    not null check (json_valid(rate_evidence)),
  fixed_at        integer,
  -- EUR cents
  gross           integer not null check (gross >= 0),
  fee             integer not null check (fee between 0 and gross),
  -- 1 once it was confirmed for the first time
  was_confirmed   integer not null check (was_confirmed in (0, 1)),
  created_at      integer not null,
  check (was_confirmed = 0 or fixed_at is not null)
) strict;
create index deposits_of_account on deposits (account, mode, seq);
create index deposits_of_customer on deposits (customer, seq);

-- Accounts whose payers get receipts.
create table receipt_accounts (
  account integer primary key references accounts (seq)
) strict;

-- Receipts that were queued: at most one for each invoice, for ever.
create table receipts (
  invoice   integer primary key references invoices (seq),
  account   integer not null references accounts (seq),
  queued_at integer not null
) strict;
create index receipts_of_account on receipts (account, queued_at);

-- Languages in which payers saw their checkouts, of invoices that may get a receipt.
create table receipt_languages (
  invoice  integer primary key references invoices (seq),
  language text    not null,
  seen_at  integer not null
) strict;


-- Money out

-- Addresses to which payouts and refunds are sent. Every output to one while it is watched belongs to it.
create table destinations (
  seq         integer primary key,
  mode        text    not null check (mode in ('live', 'test')),
  chain       text    not null,
  address     text    not null,
  -- 1 while more outputs came than are kept: no signer starts then, and a person has to look
  is_overfull integer not null default 0 check (is_overfull in (0, 1)),
  -- 1 after a restore: what its transfers got is computed again before a server does anything else
  is_stale    integer not null default 0 check (is_stale in (0, 1)),
  unique (mode, chain, address)
) strict;

-- Payouts and refunds. A transfer stays in processing until its chain has settled it.
create table transfers (
  seq              integer primary key,
  id               text    not null unique,
  kind             text    not null check (kind in ('payout', 'refund')),
  account          integer not null references accounts (seq),
  mode             text    not null check (mode in ('live', 'test')),
  -- the invoice of a refund
  invoice          integer references invoices (seq),
  status           text    not null check (status in ('requested', 'approved', 'processing', 'paid', 'failed',
                     'rejected', 'cancelled')),
  currency         text    not null check (currency in ('EUR', 'USD')),
  amount           integer not null check (amount > 0),
  asset            text    not null,
  chain            text    not null,
  to_address       text    not null,
  destination      integer not null references destinations (seq),
  reason           text,
  -- set at the approval: rate, fee, and the amount without the fee, in base units
  rate             text,
  network_fee      text,
  rate_basis       text    check (rate_basis is null or rate_basis in ('received', 'market')),
  network_fee_from text    check (network_fee_from is null or network_fee_from in ('given', 'estimate', 'setting', 'default')),
  amount_crypto    text,
  -- 1 if a person accepted an unusual rate or fee: the signer never sends it
  has_accepted_terms integer not null default 0 check (has_accepted_terms in (0, 1) and (approved_at is not null or not has_accepted_terms)),
  sent_by          text    check (sent_by is null or sent_by = 'hand' or sent_by = 'signer' and not has_accepted_terms),
  -- time from which the signer has it
  signer_at        integer check ((signer_at is null) = (sent_by is not 'signer')),
  -- what counts towards the signer's limit: the amount, or the worth of its coins if that is more
  signer_amount    integer check ((signer_amount is null) = (signer_at is null) and signer_amount >= amount),
  -- state of a signer that was started for it. unknown: it ended without a clear result; retry: it sent nothing and runs
  -- again; declined: it sent nothing and does not run again; restored: a restored copy does not know what was sent
  sending          text    check (sending is null or sending in ('running', 'unknown', 'retry', 'declined', 'restored')),
  -- time at which a person ended the hold of a restore
  released_at      integer check (released_at is null or sending is not 'restored'),
  -- reason why the signer sent nothing, or why the result is unknown
  sending_reason   text    check (sending_reason is null or sending is not null),
  -- first retry, and the time of the next run
  retry_since      integer check (retry_since is null or sending in ('retry', 'running')),
  retry_at         integer check ((retry_at is null) = (retry_since is null) and (sending is not 'retry' or retry_at is not null)),
  -- its transaction, as it follows from the acts and the facts of the chain
  txid             text,
  -- origin of the transaction's id
  txid_from        text    check (txid_from is null or (txid_from in ('person', 'signer', 'chain') and txid is not null)),
  -- 1 while an output of exactly its amount waits for a decision: the signer does not send it then
  has_exact_proposal integer not null default 0 check (has_exact_proposal in (0, 1)),
  -- 1 once nothing that happens at its destination changes it any more
  is_frozen        integer not null default 0 check (is_frozen in (0, 1)),
  -- reason why it is paid: its chain, a person, or the word of the sender
  settled_by       text    check (settled_by is null or settled_by in ('chain', 'person', 'unchecked')),
  settled_reason   text    check ((settled_reason is null) = (settled_by is not 'person')),
  failure_reason   text,
  -- block from which its destination is watched; null until that block is known
  watched_from     integer check (watched_from >= 0),
  -- last block that was read at the approval; null if none was read before
  approved_height  integer check (approved_height >= 0),
  -- 1 if blocks since the approval cannot be read any more
  has_unread_blocks integer not null default 0 check (has_unread_blocks in (0, 1)),
  requested_at     integer not null,
  -- last block that was read then; a transaction in it or before it cannot have sent this transfer
  requested_height integer check (requested_height >= 0),
  approved_at      integer,
  -- first time in processing
  handed_over_at   integer,
  -- who began to send it last, and when: a user's email, or the name of another actor
  started_by       text    check (started_by <> ''),
  started_at       integer check ((started_at is null) = (started_by is null)),
  finalized_at     integer,
  check ((kind = 'refund') = (invoice is not null)),
  check (kind <> 'payout' or mode = 'live'),
  check ((approved_at is null) = (rate is null) and (approved_at is null) = (amount_crypto is null)
    and (approved_at is null) = (network_fee is null)),
  check ((approved_at is null) = (network_fee_from is null) and (approved_at is null) = (sent_by is null)),
  check ((approved_at is null) = (rate_basis is null)),
  check (kind <> 'payout' or rate_basis is not 'received'),
  check (status not in ('requested', 'rejected') or approved_at is null),
  check (status not in ('approved', 'processing', 'paid', 'failed') or approved_at is not null),
  check (status not in ('processing', 'paid') or handed_over_at is not null),
  check ((handed_over_at is null) = (started_at is null)),
  check ((status in ('paid', 'failed', 'rejected', 'cancelled')) = (finalized_at is not null)),
  check (status <> 'paid' or txid is not null or settled_by is 'person'),
  check ((settled_by is not null) = (status = 'paid')),
  check ((txid is null) = (txid_from is null)),
  check (not is_frozen or finalized_at is not null),
  check (sending is null or sending = 'restored' or status = 'processing'),
  check (sending is null or status in ('requested', 'approved', 'processing'))
) strict;
-- One signer runs at a time.
create unique index transfers_running on transfers (sending) where sending = 'running';
-- An account has one open payout, over both currencies.
create unique index transfers_open_payout on transfers (account)
  where kind = 'payout' and status in ('requested', 'approved', 'processing');
create index transfers_of_account on transfers (account, mode, kind, seq);
create index transfers_of_account_by_status on transfers (account, mode, kind, status, seq);
create index transfers_by_status on transfers (mode, kind, status, seq);
create index transfers_by_kind on transfers (mode, kind, seq);
create index transfers_of_invoice on transfers (invoice) where invoice is not null;
create index transfers_approved on transfers (seq) where status in ('approved', 'processing');
create index transfers_of_signer on transfers (account, currency, signer_at) where signer_at is not null;
create index transfers_at_destination on transfers (destination) where not is_frozen;
create index transfers_ended on transfers (chain) where finalized_at is not null and not is_frozen;
-- A wallet skips an index whose address receives a transfer.
create index transfers_to_address on transfers (to_address);
create index transfers_of_transaction on transfers (chain, txid) where txid is not null;
-- transfers whose chains are asked for them
create index transfers_processing on transfers (chain) where status = 'processing';

-- Transactions that are attached to payouts or refunds.
create table sent_transactions (
  seq           integer primary key,
  mode          text    not null check (mode in ('live', 'test')),
  chain         text    not null,
  txid          text    not null,
  -- absent: a node had it, and no longer has it
  state         text    not null check (state in ('unseen', 'mempool', 'mined', 'absent')),
  block_height  integer,
  -- inputs, or the sender, as JSON
  spends        text    check (spends is null or json_valid(spends)),
  -- of the sender, on EVM chains
  nonce         integer check (nonce >= 0),
  is_reverted   integer not null default 0 check (is_reverted in (0, 1)),
  first_seen_at integer,
  last_seen_at  integer,
  -- time at which a node was last asked
  asked_at      integer,
  -- another transaction that spent its inputs or its nonce, and the block of that transaction
  gone_by       text,
  gone_height   integer,
  -- 1 once a rescan from the approval on was ordered, because the node cannot be asked by id
  is_read_back  integer not null default 0 check (is_read_back in (0, 1)),
  -- what the node cannot tell, for the operator
  problem       text    check (problem <> ''),
  unique (mode, chain, txid),
  check ((state = 'mined') = (block_height is not null)),
  check ((state = 'unseen') = (last_seen_at is null) and (last_seen_at is null) = (first_seen_at is null))
) strict;

-- What people and the signer did with the transactions of transfers. Rows are only added.
create table transfer_acts (
  seq      integer primary key,
  transfer integer not null references transfers (seq),
  kind     text    not null check (kind in ('entered', 'detached', 'dismissed')),
  txid     text    not null check (txid <> ''),
  -- chain: it was found on the chain, and stays the transaction of a transfer that a person failed
  source   text    not null check (source in ('person', 'signer', 'chain')),
  at       integer not null
) strict;
create index transfer_acts_of_transfer on transfer_acts (transfer, seq);
create index transfer_acts_by_transaction on transfer_acts (txid);

-- Outputs that reached destinations while they were watched.
create table destination_outputs (
  observation integer primary key references observations (seq),
  destination integer not null references destinations (seq),
  -- transfer for which it counts, or at which it is under review
  transfer    integer references transfers (seq),
  -- transfer that it settled, or whose amount was booked for it
  settled     integer references transfers (seq),
  -- 1 once its transfer is frozen
  is_frozen   integer not null default 0 check (is_frozen in (0, 1)),
  check (not is_frozen or transfer is not null or settled is not null)
) strict;
create index destination_outputs_kept on destination_outputs (destination) where not is_frozen;
create index destination_outputs_of_transfer on destination_outputs (transfer) where transfer is not null;
create index destination_outputs_settled on destination_outputs (settled) where settled is not null;

-- Outputs that a person may attach to a transfer, or dismiss.
create table transfer_proposals (
  transfer    integer not null references transfers (seq),
  observation integer not null references destination_outputs (observation),
  primary key (transfer, observation)
) strict, without rowid;
create index transfer_proposals_of_output on transfer_proposals (observation);

-- Findings about transfers that a person has to check. A review is open while the facts ask for it, until a person decides.
create table transfer_reviews (
  seq       integer primary key,
  id        text    not null unique,
  transfer  integer not null references transfers (seq),
  kind      text    not null check (kind in ('overpaid', 'gone', 'arrived', 'beyond_reach')),
  -- transaction that the finding is about
  txid      text    check ((txid is null) = (kind = 'beyond_reach')),
  opened_at integer not null,
  -- sentence for people
  problem   text    not null check (problem <> ''),
  ended_at  integer,
  -- email of the person, or chain where the facts changed
  ended_by  text,
  decision  text    check (decision in ('resolved', 'adjusted', 'cleared')),
  -- reason that the person gave
  reason    text    check (reason <> ''),
  check ((ended_at is null) = (decision is null) and (ended_at is null) = (ended_by is null)),
  check ((reason is not null) = (decision is not null and decision <> 'cleared')),
  check (decision is not 'adjusted' or kind in ('gone', 'arrived')),
  check (decision is not 'resolved' or kind <> 'gone')
) strict;
create unique index transfer_reviews_open on transfer_reviews (transfer, kind, ifnull(txid, '')) where ended_at is null;
create index transfer_reviews_of_transfer on transfer_reviews (transfer);

-- Network fees that the operator has set, in base units.
create table network_fees (
  asset text not null primary key check (asset <> ''),
  fee   text not null check (fee <> '')
) strict;


-- Books

create table ledger (
  seq          integer primary key,
  id           text    not null unique,
  account      integer not null references accounts (seq),
  mode         text    not null check (mode in ('live', 'test')),
  currency     text    not null check (currency in ('EUR', 'USD')),
  amount       integer not null check (amount <> 0),
  kind         text    not null check (kind in ('sale', 'fee') or kind in ('payout', 'payout_reversal')
    or kind in ('refund', 'refund_reversal') or kind = 'adjustment'),
  ref_type     text    not null check (ref_type in ('invoice', 'deposit') or ref_type in ('payout', 'refund') or ref_type = 'admin'),
  ref_id       text,
  fee_bps      integer check (fee_bps between 0 and 10000),
  memo         text,
  -- what was booked: a payment, a deposit or a transfer
  payment      integer references payments (seq),
  deposit      integer references deposits (seq),
  transfer     integer references transfers (seq),
  -- the entry that this entry reverts
  reverses     integer references ledger (seq),
  -- fee rate of a sale, from which its fee is computed again
  sale_fee_bps integer check (sale_fee_bps between 0 and 10000 and (kind = 'sale') = (sale_fee_bps is not null)),
  created_at   integer not null,
  -- version and SHA-256 of this row's fields and of the row before
  link         blob    not null check (length(link) = 33),
  check (kind in ('fee', 'payout') or kind in ('refund', 'adjustment') or amount > 0),
  check (kind in ('sale', 'payout_reversal') or kind in ('refund_reversal', 'adjustment') or amount < 0),
  check ((kind = 'fee') = (fee_bps is not null))
) strict;
create index ledger_of_account on ledger (account, mode, seq);
create index ledger_by_currency on ledger (account, mode, currency, seq);
create unique index ledger_booked_once on ledger (payment, kind) where kind in ('sale', 'fee');
create unique index ledger_deposited_once on ledger (deposit, kind)
  where deposit is not null and kind in ('sale', 'fee');
create unique index ledger_transferred_once on ledger (transfer, kind) where transfer is not null;
create unique index ledger_reversed_once on ledger (reverses) where reverses is not null;
create index ledger_of_payment on ledger (payment) where payment is not null;
create index ledger_of_deposit on ledger (deposit) where deposit is not null;

-- Running sums of the ledger, changed in the transaction that books.
create table balances (
  account     integer not null references accounts (seq),
  mode        text    not null check (mode in ('live', 'test')),
  currency    text    not null check (currency in ('EUR', 'USD')),
  available   integer not null,
  sales       integer not null check (sales >= 0),
  fees        integer not null check (fees <= 0),
  payouts     integer not null check (payouts <= 0),
  refunds     integer not null check (refunds <= 0),
  adjustments integer not null,
  -- open payouts and refunds, which `available` no longer contains
  reserved    integer not null check (reserved >= 0),
  primary key (account, mode, currency),
  check (available = sales + fees + payouts + refunds + adjustments)
) strict;

-- Sales of each hour by coin, so that a report does not read every sale. The ledger stays the source.
create table sales_by_hour (
  account  integer not null references accounts (seq),
  mode     text    not null check (mode in ('live', 'test')),
  -- hours since 1970
  hour     integer not null,
  currency text    not null check (currency in ('EUR', 'USD')),
  asset    text    not null,
  count    integer not null check (count > 0),
  amount   integer not null check (amount > 0),
  primary key (account, mode, hour, currency, asset)
) strict, without rowid;


-- Events and webhooks

-- Events as they are stored. The view `events` adds their bodies.
create table event_rows (
  seq        integer primary key,
  -- contains `seq`, so it needs no index
  id         text    not null
    check (id glob 'evt_*' and substr(id, 21, 8) = printf('%08x', 0x80000000 | (seq & 0x3fffffff))),
  account    integer not null references accounts (seq),
  mode       text    not null check (mode in ('live', 'test')),
  type       text    not null,
  object_id  text    not null,
  created_at integer not null,
  -- the event of the same object that has the members missing from `content`
  first      integer check (first < seq),
  -- the object of the event, or its members that differ from those of `first`
  content    text    not null check (json_valid(content)),
  -- the refunded invoice at that time, for the legacy body
  invoice    text    check (invoice is null or json_valid(invoice)),
  -- status of the invoice or deposit before the change that the event tells of; null where its status stayed the same, and
  -- for other objects
  status_before text
) strict;
create index events_of_account on event_rows (account, mode, seq);
create index events_by_type on event_rows (account, mode, type, seq);
create index events_by_object on event_rows (object_id, seq);
-- Those that the team may get an e-mail about.
create index events_for_mail on event_rows (seq) where status_before is not null and type in (
  'invoice.confirmed', 'invoice.overpaid', 'invoice.underpaid', 'invoice.paid_late', 'deposit.confirmed');

create view events as
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

create table endpoints (
  seq              integer primary key,
  id               text    not null unique,
  account          integer not null references accounts (seq),
  -- null: both modes
  mode             text    check (mode in ('live', 'test')),
  url              text    not null,
  secret           text    not null check (secret <> ''),
  -- the previous secret, which also signs until the second time
  secret_old       text,
  secret_old_until integer,
  format           text    not null check (format in ('event', 'legacy')),
  -- JSON array of event types; null: all
  types            text    check (types is null or json_valid(types)),
  enabled          integer not null check (enabled in (0, 1)),
  created_at       integer not null,
  -- a removed endpoint is kept, because its deliveries are kept
  removed_at       integer
) strict;
create index endpoints_of_account on endpoints (account) where removed_at is null;

create table webhook_urls (
  seq integer primary key,
  url text    not null unique
) strict;

-- Queues of deliveries, one for each receiver: a slow or dead receiver delays no other queue.
create table webhook_queues (
  seq      integer primary key,
  account  integer not null references accounts (seq),
  -- scheme, host and port of its URLs
  origin   text    not null check (origin <> ''),
  -- null: the invoices' own webhookUrls
  endpoint integer references endpoints (seq)
) strict;
create unique index webhook_queues_by_receiver on webhook_queues (account, origin, ifnull(endpoint, 0));

create table deliveries (
  seq             integer primary key,
  id              text    not null unique,
  event           integer not null references event_rows (seq),
  -- null: the invoice's own webhookUrl
  endpoint        integer references endpoints (seq),
  url             integer not null references webhook_urls (seq),
  queue           integer not null references webhook_queues (seq),
  state           text    not null check (state in ('pending', 'delivered') or state = 'failed'),
  -- attempts of this round, and of the rounds before the delivery was sent again
  attempts        integer not null check (attempts between 0 and 11),
  made_before     integer not null default 0 check (made_before >= 0),
  next_attempt_at integer,
  check ((state = 'pending') = (next_attempt_at is not null))
) strict;
create unique index deliveries_of_event on deliveries (event, ifnull(endpoint, 0));
create index deliveries_due on deliveries (queue, next_attempt_at) where state = 'pending';
create index deliveries_not_taken on deliveries (state, event) where state <> 'delivered';
create index deliveries_of_endpoint on deliveries (endpoint, event) where endpoint is not null;

create table attempts (
  delivery   integer not null references deliveries (seq),
  -- counted over all rounds
  number     integer not null check (number >= 1),
  at         integer not null,
  status     integer,
  latency_ms integer not null check (latency_ms >= 0),
  error      text,
  answer     text,
  -- an earlier attempt with the same answer
  answer_of  integer check (answer_of is null or answer_of < number and answer is null),
  -- format of the body that was sent; null without a request, like the columns below
  format     text    check (format in ('event', 'legacy')),
  -- signed time, in Unix seconds, and the values of X-Service-Signature and webhook-signature as they were sent
  signed_at  integer check ((signed_at is null) = (format is null)),
  service_signature  text check ((service_signature is null) = (format is null)
    and service_signature like 't=' || signed_at || ',v1=%'),
  standard_signature text check ((standard_signature is null) = (format is null) and standard_signature like 'v1,%'),
  primary key (delivery, number),
  check ((status is null) <> (error is null)),
  check (status is null or format is not null)
) strict, without rowid;
create index attempts_by_age on attempts (at);

-- The newest event of each endpoint whose delivery was deleted with its last attempt, for the audit.
create table pruned_deliveries (
  -- 0: the invoices' own webhookUrls
  endpoint integer primary key,
  event    integer not null references event_rows (seq)
) strict;


-- Servers of resellers

create table servers (
  seq                   integer primary key,
  id                    text    not null unique,
  account               integer not null references accounts (seq),
  type                  text    not null check (type in ('kvm')),
  hostname              text    not null check (hostname <> ''),
  cpu                   integer not null check (cpu > 0),
  ram_mb                integer not null check (ram_mb > 0),
  disk_gb               integer not null check (disk_gb > 0),
  status                text    not null check (status in ('queued', 'provisioning', 'active', 'failed', 'deleted')),
  -- state of the provisioner that was started for it; unknown: it ended without a clear result
  ordering              text    check (ordering in ('running', 'unknown')),
  address               text,
  provider_ref          text,
  failure_reason        text,
  created_at            integer not null,
  activated_at          integer,
  -- time of the request to remove it; it stays active until it is removed
  deletion_requested_at integer,
  deleted_at            integer,
  check ((status = 'deleted') = (deleted_at is not null)),
  check (status <> 'active' or activated_at is not null),
  check (status <> 'failed' or failure_reason is not null),
  check (status in ('active', 'deleted') or deletion_requested_at is null),
  -- the provisioner works on a server that is being created, or on one that is being removed
  check ((status = 'provisioning') <= (ordering is not null)),
  check (ordering is null or status = 'provisioning' or (status = 'active' and deletion_requested_at is not null))
) strict;
create index servers_of_account on servers (account, seq);
create index servers_to_do on servers (seq)
  where status = 'queued' or (status = 'active' and deletion_requested_at is not null);
-- One provisioner runs at a time.
create unique index servers_running on servers (ordering) where ordering = 'running';


-- E-mail

-- Messages to the team and to payers. Without a mail server nothing is stored here.
create table mail_messages (
  seq             integer primary key,
  -- the Message-ID without its angle brackets
  id              text    not null unique,
  kind            text    not null check (kind in ('sale', 'summary') or kind in ('task', 'alarm') or kind = 'receipt'),
  -- null for messages about the whole service
  account         integer references accounts (seq),
  -- 0 is sent first
  priority        integer not null check (priority between 0 and 2),
  recipient       text    not null,
  language        text    not null,
  subject         text    not null,
  body            text    not null,
  created_at      integer not null,
  state           text    not null check (state in ('pending', 'sent') or state = 'failed'),
  attempts        integer not null check (attempts >= 0),
  -- attempts after which it is not known whether the mail server has accepted the message
  doubts          integer not null check (doubts between 0 and 2),
  -- 1 from before the text is sent until the outcome is stored
  is_sending      integer not null check (is_sending in (0, 1)),
  next_attempt_at integer check ((next_attempt_at is null) = (state <> 'pending')),
  ended_at        integer check ((ended_at is null) = (state = 'pending')),
  -- reason why the last attempt failed
  problem         text,
  check (is_sending = 0 or state = 'pending')
) strict;
create index mail_waiting on mail_messages (priority, next_attempt_at) where state = 'pending' and is_sending = 0;
create index mail_sending on mail_messages (seq) where is_sending = 1;
create index mail_ended on mail_messages (ended_at) where ended_at is not null;

-- The event up to which messages are queued. Without a row, that is the newest event at the next start with a mail server.
create table mail_cursor (
  id    integer primary key check (id = 1),
  event integer not null
) strict;

-- Messages that a user wants.
create table mail_preferences (
  user    integer primary key references users (seq),
  -- the user's account; null for operators
  account integer references accounts (seq),
  sales   text    not null check (sales in ('off', 'each') or sales = 'daily'),
  tasks   integer not null check (tasks in (0, 1)),
  alarms  integer not null check (alarms in (0, 1))
) strict;
create index mail_preferences_of_account on mail_preferences (account);

-- Alarms that are on, and those that ended within the hour in which they are not repeated.
create table mail_alarms (
  name       text    primary key,
  kind       text    not null,
  account    integer references accounts (seq),
  about      text    not null,
  since      integer not null,
  is_on      integer not null check (is_on in (0, 1)),
  -- 1 once a message has told of this occurrence
  is_told    integer not null check (is_told in (0, 1)),
  told_at    integer,
  told_count integer not null
) strict, without rowid;

-- The last day with a summary of its sales, in days since 1970.
create table mail_summary_day (
  id  integer primary key check (id = 1),
  day integer not null
) strict;
