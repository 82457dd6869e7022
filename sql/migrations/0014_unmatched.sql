-- What a person made of a payment that matched nothing is kept with it, so that it can be undone. What was given to somebody
-- keeps its row: the payment or the deposit of the same observation is its owner then.
create table unmatched_payments_new (
  seq         integer primary key,
  id          text    not null unique,
  observation integer not null unique references observations (seq),
  reason      text    not null check (reason in ('unknown_address', 'unquoted_coin', 'dust', 'too_large', 'no_rate',
                'coinbase')),
  -- whose address it is, where it is somebody's; an invoice's account, too
  account     integer references accounts (seq),
  invoice     integer references invoices (seq),
  -- what a person made of it, and when; nothing while nobody has
  outcome     text    check (outcome in ('assigned', 'returned', 'dismissed')),
  resolved_at integer,
  note        text    check (note <> ''),
  -- the transaction that paid it back
  return_txid text    check (return_txid <> ''),
  check (reason not in ('unquoted_coin', 'dust') or invoice is not null),
  check ((reason = 'unknown_address') <= (account is null)),
  check (invoice is null or account is not null),
  check ((outcome is null) = (resolved_at is null)),
  check (outcome is not null or note is null),
  check (outcome is not 'dismissed' or note is not null),
  check ((outcome is 'returned') = (return_txid is not null))
) strict;
insert into unmatched_payments_new (seq, id, observation, reason, account, invoice, outcome, resolved_at, note)
select seq, id, observation, reason, account, invoice, iif(resolved_at is null, null, 'dismissed'), resolved_at, note
from unmatched_payments order by seq;
drop table unmatched_payments;
alter table unmatched_payments_new rename to unmatched_payments;
create index unmatched_payments_open on unmatched_payments (seq) where resolved_at is null;

-- Was a quote made when a person gave its invoice what came, and asked for by nobody since? It goes with the last of that.
alter table quotes add column by_person integer not null default 0 check (by_person in (0, 1));
update quotes set by_person = 1 where given = 1;
