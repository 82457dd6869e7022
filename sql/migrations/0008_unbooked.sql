-- Where a person gives an invoice what came to another address, it is quoted at that address: nobody is asked to pay
-- there, and no address is claimed for it. So an invoice may have two quotes of a coin: its own, and a given one.
create table quotes_new (
  seq             integer primary key,
  invoice         integer not null references invoices (seq),
  asset           text    not null,
  rate            text    not null,
  rate_source     text    not null check (rate_source <> ''),
  rate_at         integer not null,
  amount_expected text    not null,
  address         text    not null,
  -- 1 at an address that is not the invoice's
  given           integer not null check (given in (0, 1)),
  created_at      integer not null,
  unique (invoice, asset, given)
) strict;
insert into quotes_new (seq, invoice, asset, rate, rate_source, rate_at, amount_expected, address, given, created_at)
select seq, invoice, asset, rate, rate_source, rate_at, amount_expected, address, 0, created_at from quotes;
drop table quotes;
alter table quotes_new rename to quotes;

-- The chains on which an invoice of live mode can be paid in time, sorted, with commas: where one lags, the invoice waits
-- for it. So what is due is found by one look-up for each such set, however many invoices wait.
alter table invoices add column waits_for text not null default '' check (mode = 'live' or waits_for = '');
update invoices set waits_for = ifnull((
  select group_concat(c.chain, ',' order by c.chain) from (
    select distinct case q.asset
        when 'BTC' then 'bitcoin' when 'LTC' then 'litecoin' when 'DOGE' then 'dogecoin'
        when 'ETH' then 'ethereum' when 'USDT-ERC20' then 'ethereum' when 'USDC-ERC20' then 'ethereum'
        when 'USDC-BASE' then 'base' when 'USDC-POLYGON' then 'polygon'
        when 'TRX' then 'tron' when 'USDT-TRC20' then 'tron'
        when 'SOL' then 'solana' when 'USDC-SPL' then 'solana' when 'USDT-SPL' then 'solana'
      end as chain
    from quotes q
    where q.invoice = invoices.seq and q.created_at < min(invoices.expires_at, ifnull(invoices.cancelled_at, invoices.expires_at))
  ) c), '')
where mode = 'live' and picked_quote is not null;
drop index invoices_open;
create index invoices_open on invoices (waits_for, expires_at) where status in ('created', 'awaiting_payment');

-- Since when its next step on the chain cannot be booked, as a balance would pass what can be counted: it stays as it was
-- before that step, and stops nothing else.
alter table observations add column unbookable_at integer;
