-- Addresses that customers were given before anything could watch their chain: such a chain is read back for them once.
create table read_backs (
  chain         text    primary key,
  -- when the first of these addresses was given out
  since         integer not null,
  -- the block from which on the chain is followed: deposits up to it are unmatched; null until a node was reached
  until_height  integer check (until_height >= 0),
  -- the first block that is read; null until it is found
  from_height   integer check (from_height >= 0),
  -- addresses given out before this are not read from their first day on; null where there are none
  unread_before integer,
  check (from_height is null or (until_height is not null and from_height <= until_height)),
  check (unread_before is null or (from_height is not null and unread_before > since))
) strict, without rowid;

insert into read_backs (chain, since)
select a.pool, min(c.created_at) from addresses a join customers c on c.seq = a.customer
where a.mode = 'live' and a.pool in ('solana', 'tron') and not exists (select 1 from chain_cursors where chain = a.pool)
group by a.pool;

pragma writable_schema = on;
update sqlite_schema set sql = replace(sql, '''coinbase'')),', '''coinbase'', ''unwatched'')),')
where type = 'table' and name = 'unmatched_payments';
pragma writable_schema = reset;
