-- E-mail to the team and to payers. Nothing is written here before a mail server is set.
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

-- Accounts whose payers get receipts.
create table receipt_accounts (
  account integer primary key references accounts (seq)
) strict;

-- Receipts that were queued: one for each invoice, for good.
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
