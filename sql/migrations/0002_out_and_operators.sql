-- Money on its way out, customers and their deposits, payment links, servers, and the people who operate all that.

-- Payouts and refunds are one machine, so they are one table.
create table transfers (
  seq            integer primary key,
  id             text    not null unique,
  kind           text    not null check (kind in ('payout', 'refund')),
  account        integer not null references accounts (seq),
  mode           text    not null check (mode in ('live', 'test')),
  -- what a refund gives back
  invoice        integer references invoices (seq),
  status         text    not null check (status in ('requested', 'approved', 'processing', 'paid', 'failed',
                   'rejected', 'cancelled')),
  currency       text    not null check (currency in ('EUR', 'USD')),
  amount         integer not null check (amount > 0),
  asset          text    not null,
  chain          text    not null,
  to_address     text    not null,
  -- fixed at approval; base units, the fee already taken out
  amount_crypto  text,
  network_fee    text,
  rate           text,
  txid           text,
  reason         text,
  failure_reason text,
  -- a command that was started for it: still running, or ended in a way that does not say what was sent
  sending        text    check (sending in ('running', 'unknown')),
  requested_at   integer not null,
  approved_at    integer,
  finalized_at   integer,
  check ((kind = 'refund') = (invoice is not null)),
  check (kind <> 'payout' or mode = 'live'),
  check ((approved_at is null) = (rate is null) and (approved_at is null) = (amount_crypto is null)
    and (approved_at is null) = (network_fee is null)),
  check (status not in ('requested', 'rejected') or approved_at is null),
  check (status not in ('approved', 'processing', 'paid', 'failed') or approved_at is not null),
  check ((status in ('paid', 'failed', 'rejected', 'cancelled')) = (finalized_at is not null)),
  check (status <> 'paid' or txid is not null),
  check (sending is not 'running' or status = 'processing'),
  -- unknown besides: restored from an older copy, so that nobody knows what became of it
  check (sending is null or status in ('requested', 'approved', 'processing'))
) strict;
create index transfers_of_account on transfers (account, mode, kind, seq);
create index transfers_of_invoice on transfers (invoice) where invoice is not null;
create index transfers_approved on transfers (seq) where status in ('approved', 'processing');
-- one signer at a time
create unique index transfers_running on transfers (sending) where sending = 'running';
-- one payout at a time, over both currencies
create unique index transfers_open_payout on transfers (account)
  where kind = 'payout' and status in ('requested', 'approved', 'processing');

create table customers (
  seq        integer primary key,
  account    integer not null references accounts (seq),
  mode       text    not null check (mode in ('live', 'test')),
  ref        text    not null check (ref <> ''),
  created_at integer not null,
  unique (account, mode, ref)
) strict;

-- An address belongs to an invoice or to a customer, for ever.
create table addresses_new (
  seq      integer primary key,
  mode     text    not null check (mode in ('live', 'test')),
  pool     text    not null,
  address  text    not null,
  invoice  integer references invoices (seq),
  customer integer references customers (seq),
  check ((invoice is null) <> (customer is null)),
  unique (mode, pool, address),
  unique (invoice, pool),
  unique (customer, pool)
) strict;
insert into addresses_new (seq, mode, pool, address, invoice)
  select seq, mode, pool, address, invoice from addresses;
drop table addresses;
alter table addresses_new rename to addresses;

-- Live addresses that the operator imported, for chains whose addresses cannot be derived from a public key.
create table pool_addresses (
  seq         integer primary key,
  pool        text    not null,
  address     text    not null,
  -- retired: a restored copy does not know whether it was handed out since
  state       text    not null check (state in ('free', 'assigned', 'retired')),
  imported_at integer not null,
  unique (pool, address)
) strict;
create index pool_addresses_free on pool_addresses (pool, seq) where state = 'free';

create table deposits (
  seq           integer primary key,
  id            text    not null unique,
  account       integer not null references accounts (seq),
  mode          text    not null check (mode in ('live', 'test')),
  customer      integer not null references customers (seq),
  chain         text    not null,
  asset         text    not null,
  address       text    not null,
  txid          text    not null,
  position      integer not null check (position >= 0),
  amount        text    not null,
  rate          text    not null,
  -- EUR cents
  gross         integer not null check (gross >= 0),
  fee           integer not null check (fee between 0 and gross),
  status        text    not null check (status in ('detected', 'confirmed', 'dropped')),
  was_confirmed integer not null check (was_confirmed in (0, 1)),
  created_at    integer not null,
  confirmed_at  integer,
  check ((status = 'confirmed') = (confirmed_at is not null)),
  check (status <> 'confirmed' or was_confirmed = 1),
  unique (mode, chain, txid, position)
) strict;
create index deposits_of_account on deposits (account, mode, seq);
create index deposits_of_customer on deposits (customer, seq);

-- What was booked for a transfer or a deposit; each once.
alter table ledger add column transfer integer references transfers (seq);
alter table ledger add column deposit integer references deposits (seq);
create unique index ledger_transferred_once on ledger (transfer, kind) where transfer is not null;
create unique index ledger_deposited_once on ledger (deposit, kind)
  where deposit is not null and kind in ('sale', 'fee');
create index ledger_of_deposit on ledger (deposit) where deposit is not null;

-- Money that came to an address of nobody's, or in a coin that was never quoted there: for a person to look at.
create table unmatched_payments (
  seq         integer primary key,
  id          text    not null unique,
  mode        text    not null check (mode in ('live', 'test')),
  chain       text    not null,
  asset       text    not null,
  txid        text    not null,
  position    integer not null check (position >= 0),
  address     text    not null,
  amount      text    not null,
  reason      text    not null check (reason in ('unknown_address', 'unquoted_coin')),
  -- whose address it is, where it is somebody's
  account     integer references accounts (seq),
  invoice     integer references invoices (seq),
  seen_at     integer not null,
  -- when a person looked at it, and what that came to
  resolved_at integer,
  note        text    check (note <> ''),
  check ((reason = 'unquoted_coin') = (invoice is not null)),
  check ((invoice is null) = (account is null)),
  check ((resolved_at is null) = (note is null)),
  unique (mode, chain, txid, position)
) strict;
create index unmatched_payments_open on unmatched_payments (seq) where resolved_at is null;

create table payment_links (
  seq         integer primary key,
  id          text    not null unique,
  account     integer not null references accounts (seq),
  mode        text    not null check (mode in ('live', 'test')),
  name        text    not null check (name <> ''),
  -- null: the payer names it
  amount      integer check (amount > 0),
  currency    text    not null check (currency in ('EUR', 'USD')),
  description text,
  active      integer not null check (active in (0, 1)),
  created_at  integer not null
) strict;
create index payment_links_of_account on payment_links (account, mode, seq);

alter table accounts add column branding_color text check (branding_color glob '#[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]');
alter table accounts add column branding_logo_url text;
alter table accounts add column checkout_lang text not null default 'en' check (checkout_lang <> '');
-- JSON array: pages of which sites may use the public key; empty: all
alter table accounts add column allowed_origins text not null default '[]' check (json_valid(allowed_origins));
-- a secret that was rolled signs beside the new one until its time is up
alter table accounts add column legacy_secret_old text;
alter table accounts add column legacy_secret_old_until integer;
alter table endpoints add column secret_old text;
alter table endpoints add column secret_old_until integer;
-- a key that was rolled works until then
alter table keys add column expires_at integer;

-- What the legacy body of an event tells besides its object: the invoice that was refunded, as it was then.
alter table events add column invoice text check (json_valid(invoice));

-- Coins that the operator has switched off.
create table coins_off (
  asset text primary key,
  since integer not null
) strict;

create table users (
  seq           integer primary key,
  id            text    not null unique,
  email         text    not null unique collate nocase check (email <> ''),
  -- PHC string of argon2id
  password_hash text    not null check (password_hash glob '$argon2id$*'),
  role          text    not null check (role in ('operator', 'merchant')),
  -- the one account of a merchant's user
  account       integer references accounts (seq),
  created_at    integer not null,
  disabled_at   integer,
  check ((role = 'merchant') = (account is not null))
) strict;

-- A session is stored as SHA-256 of its cookie, like a key.
create table sessions (
  hash       blob    primary key check (length(hash) = 32),
  user       integer not null references users (seq),
  created_at integer not null,
  expires_at integer not null check (expires_at > created_at)
) strict;
create index sessions_by_end on sessions (expires_at);

-- The link by which the first operator is made: single use.
alter table file add column setup_hash blob check (length(setup_hash) = 32);
alter table file add column setup_expires_at integer;
-- in a snapshot of a sandbox: what its clock showed
alter table file add column snapshot_at integer;

-- Who did what. Rows are only added.
create table audit_log (
  seq       integer primary key,
  at        integer not null,
  -- the user's email, or what else acted
  actor     text    not null check (actor <> ''),
  action    text    not null check (action <> ''),
  account   integer references accounts (seq),
  object_id text,
  -- JSON object without secrets
  detail    text    not null check (json_valid(detail))
) strict;
create index audit_log_of_account on audit_log (account, seq);

create table reseller_tokens (
  id           text    primary key,
  account      integer not null references accounts (seq),
  hash         blob    not null unique check (length(hash) = 32),
  last4        text    not null,
  created_at   integer not null,
  last_used_at integer,
  revoked_at   integer
) strict;

create table servers (
  seq            integer primary key,
  id             text    not null unique,
  account        integer not null references accounts (seq),
  type           text    not null check (type in ('kvm')),
  hostname       text    not null check (hostname <> ''),
  cpu            integer not null check (cpu > 0),
  ram_mb         integer not null check (ram_mb > 0),
  disk_gb        integer not null check (disk_gb > 0),
  status         text    not null check (status in ('queued', 'provisioning', 'active', 'failed', 'deleted')),
  -- what the provisioner is at, or ended in a way that does not say whether it was done
  ordering       text    check (ordering in ('running', 'unknown')),
  address        text,
  provider_ref   text,
  failure_reason text,
  created_at     integer not null,
  activated_at   integer,
  -- since when it is to be removed; it is active until it is gone
  deletion_requested_at integer,
  deleted_at     integer,
  check ((status = 'deleted') = (deleted_at is not null)),
  check (status <> 'active' or activated_at is not null),
  check (status <> 'failed' or failure_reason is not null),
  check (status in ('active', 'deleted') or deletion_requested_at is null),
  -- a command is at an order that is being made, or at one that is being removed
  check ((status = 'provisioning') <= (ordering is not null)),
  check (ordering is null or status = 'provisioning' or (status = 'active' and deletion_requested_at is not null))
) strict;
create index servers_of_account on servers (account, seq);
create index servers_to_do on servers (seq)
  where status = 'queued' or (status = 'active' and deletion_requested_at is not null);
-- one provisioner at a time
create unique index servers_running on servers (ordering) where ordering = 'running';

-- Deliveries may be sent again after their eleven attempts, so attempts are numbered without an end.
create table attempts_new (
  delivery   text    not null references deliveries (id),
  number     integer not null check (number >= 1),
  at         integer not null,
  status     integer,
  latency_ms integer not null check (latency_ms >= 0),
  error      text,
  answer     text,
  primary key (delivery, number),
  check ((status is null) <> (error is null))
) strict;
insert into attempts_new select * from attempts;
drop table attempts;
alter table attempts_new rename to attempts;
create index attempts_by_age on attempts (at);

-- A delivery that is sent again begins a new round of eleven attempts; those of earlier rounds are counted here.
alter table deliveries add column made_before integer not null default 0 check (made_before >= 0);
-- what has not been taken, for those who look for it
create index deliveries_not_taken on deliveries (event) where state <> 'delivered';
create index deliveries_of_endpoint on deliveries (endpoint, event) where endpoint is not null;

-- What happened to an invoice, in its order: a coin was picked, a payment came into a state, the status changed.
create table invoice_steps (
  seq     integer primary key,
  invoice integer not null references invoices (seq),
  at      integer not null,
  quote   integer references quotes (seq),
  payment integer references payments (seq),
  state   text    check (state in ('seen', 'confirmed', 'dropped')),
  status  text    check (status in ('created', 'awaiting_payment', 'detected', 'confirmed', 'overpaid',
            'underpaid', 'expired', 'paid_late', 'cancelled', 'failed')),
  check ((payment is null) = (state is null)),
  check ((quote is not null) + (payment is not null) + (status is not null) = 1)
) strict;
create index invoice_steps_of_invoice on invoice_steps (invoice, seq);
-- what can be told of older files
insert into invoice_steps (invoice, at, quote, payment, state, status)
select invoice, at, quote, payment, state, status from (
  select invoice, created_at as at, 1 as place, seq as quote, null as payment, null as state, null as status from quotes
  union all
  select invoice, created_at, 2, null, seq, 'seen', null from payments
  union all
  select invoice, confirmed_at, 3, null, seq, 'confirmed', null from payments where confirmed_at is not null
  union all
  select i.seq, e.created_at, 4, null, null, null, substr(e.type, 9) from events e join invoices i on i.id = e.object_id
  where e.type like 'invoice.%' and e.type <> 'invoice.created'
) order by at, place;
