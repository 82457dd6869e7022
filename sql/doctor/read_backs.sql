-- Addresses that were handed out before the first block that was read for them. A person may have more blocks read.
with older (chain, from_height, unread_before, address, place) as (
  select b.chain, b.from_height, b.unread_before, a.address, row_number() over (partition by b.chain order by a.seq)
  from read_backs b join addresses a on a.mode = 'live' and a.pool = b.chain join customers c on c.seq = a.customer
  where c.created_at < b.unread_before and not exists (select 1 from rescans r
    where r.chain = b.chain and r.ended_at is not null and r.from_height < b.from_height and r.next_height >= b.from_height)
)
select format('%d addresses of customers were given out before %s, from when on %s was read for them: %s%s', count(*),
    strftime('%Y-%m-%dT%H:%MZ', unread_before / 1000, 'unixepoch'), chain,
    group_concat(address, ', ') filter (where place <= 10), iif(count(*) > 10, ', …', '')) as about,
  format('look them up on the chain, or have older blocks read: `coffer rescan %s --from HEIGHT`, below %d', chain,
    from_height) as mend
from older group by chain
