-- The sales of each hour by coin, so that a report reads hours and not every sale. The ledger stays the source.
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

insert into sales_by_hour (account, mode, hour, currency, asset, count, amount)
select l.account, l.mode, l.created_at / 3600000, l.currency, o.asset, count(*), sum(l.amount)
from ledger l
  left join payments p on p.seq = l.payment
  left join deposits d on d.seq = l.deposit
  join observations o on o.seq = coalesce(p.observation, d.observation)
where l.kind = 'sale'
group by l.account, l.mode, l.created_at / 3600000, l.currency, o.asset;

-- The place of a time among an account's invoices, for counts since that time.
create index invoices_by_time on invoices (account, mode, created_at);
