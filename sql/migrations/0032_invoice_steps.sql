-- The steps of an invoice are numbered for each invoice, so that they need no index of their own.
alter table invoice_steps rename to old_steps;
create table invoice_steps (
  invoice integer not null references invoices (seq),
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
insert into invoice_steps
select invoice, row_number() over (partition by invoice order by seq), at, quote, payment, state, status
from old_steps order by invoice, seq;
drop table old_steps;
