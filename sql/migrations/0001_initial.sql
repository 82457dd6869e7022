-- The first schema. Conventions that hold in every table:
--   * `seq` is the order of insertion and the key inside the file; `id` is the name outside it.
--   * times are integer milliseconds since 1970 in UTC; fiat is integer cents; coin amounts are
--     base units as decimal text, because they pass 64 bits (never `sum()` them in SQL).
--   * `mode` is part of every key that matters: live and test rows never meet.

-- One row: what this file is and what belongs to the whole service.
create table file (
  id              integer primary key check (id = 1),
  kind            text    not null check (kind in ('sandbox', 'production')),
  -- keys the HMAC of checkout tokens; 32 random bytes
  checkout_secret blob    not null check (length(checkout_secret) = 32),
  maintenance     integer not null default 0 check (maintenance in (0, 1)),
  -- the sandbox's clock: real time plus an offset, or standing still
  clock_offset_ms integer not null default 0,
  clock_frozen_at integer,
  -- the latest moment at which a stored status was judged by time
  last_tick_at    integer not null default 0
) strict;

create table accounts (
  seq                integer primary key,
  id                 text    not null unique,
  name               text    not null check (name <> ''),
  status             text    not null check (status in ('pending', 'active', 'suspended', 'rejected')),
  fee_bps            integer not null check (fee_bps between 0 and 10000),
  settlement_enabled integer not null check (settlement_enabled in (0, 1)),
  customers_enabled  integer not null check (customers_enabled in (0, 1)),
  payout_asset       text    not null,
  invoice_max        integer not null check (invoice_max > 0),
  payout_min         integer not null check (payout_min >= 0),
  payout_daily_max   integer not null check (payout_daily_max >= 0),
  -- how far from the price still counts as paid; basis points of the price
  under_bps          integer not null check (under_bps between 0 and 2000),
  over_bps           integer not null check (over_bps between 0 and 2000),
  ttl_seconds        integer not null check (ttl_seconds between 60 and 86400),
  success_url        text,
  cancel_url         text,
  -- signs deliveries to an invoice's own webhookUrl
  legacy_secret      text    not null check (legacy_secret <> ''),
  created_at         integer not null
) strict;

create table payout_addresses (
  account    integer not null references accounts (seq),
  chain      text    not null,
  address    text    not null,
  changed_at integer not null,
  primary key (account, chain)
) strict;

-- A key is stored as SHA-256: it has 178 bits of entropy, so a slow hash would protect nothing.
create table keys (
  id           text    primary key,
  account      integer not null references accounts (seq),
  class        text    not null check (class in ('secret', 'public', 'legacy')),
  mode         text    not null check (mode in ('live', 'test')),
  hash         blob    not null unique check (length(hash) = 32),
  last4        text    not null,
  created_at   integer not null,
  last_used_at integer,
  revoked_at   integer
) strict;

create table endpoints (
  seq        integer primary key,
  id         text    not null unique,
  account    integer not null references accounts (seq),
  -- null: both modes
  mode       text    check (mode in ('live', 'test')),
  url        text    not null,
  secret     text    not null check (secret <> ''),
  format     text    not null check (format in ('event', 'legacy')),
  -- JSON array of event types; null: all
  types      text    check (types is null or json_valid(types)),
  enabled    integer not null check (enabled in (0, 1)),
  created_at integer not null,
  -- kept after removal, because its deliveries are kept
  removed_at integer
) strict;
create index endpoints_of_account on endpoints (account) where removed_at is null;

create table invoices (
  seq             integer primary key,
  id              text    not null unique,
  account         integer not null references accounts (seq),
  mode            text    not null check (mode in ('live', 'test')),
  order_id        text    check (order_id <> ''),
  status          text    not null check (status in ('created', 'awaiting_payment', 'detected', 'confirmed',
                    'overpaid', 'underpaid', 'expired', 'paid_late', 'cancelled', 'failed')),
  amount          integer not null check (amount > 0),
  currency        text    not null check (currency in ('EUR', 'USD')),
  description     text,
  -- the coin of the invoice, copied from the quote that stands
  asset           text,
  rate            text,
  amount_expected text,
  amount_received text,
  deposit_address text,
  -- the quote picked last; which one stands also depends on the payments
  picked_quote    integer,
  redirect_url    text,
  cancel_url      text,
  webhook_url     text,
  metadata        text    not null check (json_valid(metadata)),
  customer_email  text,
  payment_link_id text,
  refunded        integer check (refunded > 0),
  -- the account's tolerances when the invoice was made: a later change judges nothing again
  under_bps       integer not null check (under_bps between 0 and 2000),
  over_bps        integer not null check (over_bps between 0 and 2000),
  created_at      integer not null,
  expires_at      integer not null check (expires_at > created_at),
  confirmed_at    integer,
  cancelled_at    integer,
  check ((asset is null) = (rate is null) and (asset is null) = (amount_expected is null)
    and (asset is null) = (deposit_address is null) and (asset is null) = (picked_quote is null)),
  check ((status in ('confirmed', 'overpaid')) = (confirmed_at is not null)),
  check (status <> 'cancelled' or cancelled_at is not null),
  check (status <> 'created' or asset is null),
  check (status not in ('awaiting_payment', 'detected', 'confirmed', 'overpaid', 'underpaid', 'paid_late')
    or asset is not null)
) strict;
create index invoices_of_account on invoices (account, mode, seq);
create index invoices_by_status on invoices (account, mode, status, seq);
create unique index invoices_by_order on invoices (account, mode, order_id) where order_id is not null;
create index invoices_open on invoices (expires_at) where status in ('created', 'awaiting_payment');

-- The next index to derive from, for each thing that hands out addresses.
create table address_counters (
  mode       text    not null check (mode in ('live', 'test')),
  pool       text    not null,
  next_index integer not null check (next_index >= 0),
  primary key (mode, pool)
) strict;

-- A deposit address belongs to its owner for ever: a row is never deleted nor given to another.
create table addresses (
  seq     integer primary key,
  mode    text    not null check (mode in ('live', 'test')),
  pool    text    not null,
  address text    not null,
  invoice integer not null references invoices (seq),
  unique (mode, pool, address),
  unique (invoice, pool)
) strict;

create table quotes (
  seq             integer primary key,
  invoice         integer not null references invoices (seq),
  asset           text    not null,
  rate            text    not null,
  amount_expected text    not null,
  address         text    not null,
  created_at      integer not null,
  unique (invoice, asset)
) strict;

create table payments (
  seq          integer primary key,
  id           text    not null unique,
  invoice      integer not null references invoices (seq),
  quote        integer not null references quotes (seq),
  mode         text    not null check (mode in ('live', 'test')),
  chain        text    not null,
  asset        text    not null,
  txid         text    not null,
  -- output or log index
  position     integer not null check (position >= 0),
  amount       text    not null,
  -- judged once, when the payment is recorded
  rate         text    not null,
  value        integer not null check (value >= 0),
  on_time      integer not null check (on_time in (0, 1)),
  state        text    not null check (state in ('seen', 'confirmed', 'dropped')),
  -- 1 once it has ever been confirmed
  was_confirmed integer not null check (was_confirmed in (0, 1)),
  seen_at      integer not null,
  confirmed_at integer,
  created_at   integer not null,
  check ((state = 'confirmed') = (confirmed_at is not null)),
  check (state <> 'confirmed' or was_confirmed = 1),
  unique (mode, chain, txid, position)
) strict;
create index payments_of_invoice on payments (invoice);
create index payments_seen on payments (invoice) where state = 'seen';

create table ledger (
  seq        integer primary key,
  id         text    not null unique,
  account    integer not null references accounts (seq),
  mode       text    not null check (mode in ('live', 'test')),
  currency   text    not null check (currency in ('EUR', 'USD')),
  amount     integer not null check (amount <> 0),
  kind       text    not null check (kind in ('sale', 'fee', 'payout', 'payout_reversal', 'refund',
               'refund_reversal', 'adjustment')),
  ref_type   text    not null check (ref_type in ('invoice', 'deposit', 'payout', 'refund', 'admin')),
  ref_id     text,
  fee_bps    integer check (fee_bps between 0 and 10000),
  memo       text,
  -- the payment that was booked, for what a payment books
  payment    integer references payments (seq),
  -- the entry whose effect this one takes back
  reverses   integer references ledger (seq),
  created_at integer not null,
  check (kind not in ('sale', 'payout_reversal', 'refund_reversal') or amount > 0),
  check (kind not in ('fee', 'payout', 'refund') or amount < 0),
  check ((kind = 'fee') = (fee_bps is not null))
) strict;
create index ledger_of_account on ledger (account, mode, seq);
create index ledger_by_currency on ledger (account, mode, currency, seq);
create unique index ledger_booked_once on ledger (payment, kind) where kind in ('sale', 'fee');
create unique index ledger_reversed_once on ledger (reverses) where reverses is not null;
create index ledger_of_payment on ledger (payment) where payment is not null;

-- The running sums of the ledger, moved in the transaction that books.
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
  -- open payouts and refunds; already taken out of available
  reserved    integer not null check (reserved >= 0),
  primary key (account, mode, currency),
  check (available = sales + fees + payouts + refunds + adjustments)
) strict;

create table events (
  seq        integer primary key,
  id         text    not null unique check (id glob 'evt_*'),
  account    integer not null references accounts (seq),
  mode       text    not null check (mode in ('live', 'test')),
  type       text    not null,
  object_id  text    not null,
  created_at integer not null,
  -- rendered once; every read and every delivery sends these bytes
  body       text    not null
) strict;
create index events_of_account on events (account, mode, seq);
create index events_by_type on events (account, mode, type, seq);
create index events_by_object on events (object_id, seq);

create table deliveries (
  id              text    primary key,
  event           integer not null references events (seq),
  -- null: the invoice's own webhookUrl
  endpoint        integer references endpoints (seq),
  url             text    not null,
  -- whoever is told: one that is slow or dead delays nobody in another lane
  lane            text    not null,
  state           text    not null check (state in ('pending', 'delivered', 'failed')),
  attempts        integer not null check (attempts between 0 and 11),
  next_attempt_at integer,
  check ((state = 'pending') = (next_attempt_at is not null))
) strict;
create unique index deliveries_of_event on deliveries (event, ifnull(endpoint, 0));
create index deliveries_due on deliveries (lane, next_attempt_at) where state = 'pending';

create table attempts (
  delivery   text    not null references deliveries (id),
  number     integer not null check (number between 1 and 11),
  at         integer not null,
  status     integer,
  latency_ms integer not null check (latency_ms >= 0),
  error      text,
  answer     text,
  primary key (delivery, number),
  check ((status is null) <> (error is null))
) strict;
create index attempts_by_age on attempts (at);

-- Answers of POSTs that create, kept for a replay.
create table idempotency (
  account    integer not null references accounts (seq),
  mode       text    not null check (mode in ('live', 'test')),
  route      text    not null,
  client_key text    not null check (client_key <> ''),
  request    text    not null,
  outcome    text    not null check (outcome in ('created', 'existing')),
  answer     text    not null,
  created_at integer not null,
  primary key (account, mode, route, client_key)
) strict;
create index idempotency_by_age on idempotency (created_at);
