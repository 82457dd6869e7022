-- Rule 7: the cursor of a followed chain is at blocks whose hashes are kept. A confirmed observation is in one of these
-- blocks, or below them all. During a rescan, and while a chain is stopped, cursors may be anywhere.
with oldest as (select chain, min(height) as height from chain_blocks group by chain)
select format('chain %s', c.chain) as about, format('read up to block %d %s', c.height, c.hash) as found,
  'at a block whose hash is kept' as should
from chain_cursors c
where c.stopped is null and not exists (select 1 from rescans r where r.chain = c.chain and r.ended_at is null)
  and not exists (select 1 from chain_blocks b where b.chain = c.chain and b.height = c.height and b.hash = c.hash)
union all
select format('chain %s', c.chain), format('read for good up to block %d %s', c.complete_height, c.complete_hash),
  'at a block whose hash is kept, and not before the oldest of them'
from chain_cursors c
where c.stopped is null and not exists (select 1 from rescans r where r.chain = c.chain and r.ended_at is null)
  and not exists (select 1 from chain_blocks b
    where b.chain = c.chain and b.height = c.complete_height and b.hash = c.complete_hash)
union all
select format('chain %s', b.chain), format('kept with block %d, which has not been read', b.height),
  'kept with what has been read'
from chain_blocks b join chain_cursors c on c.chain = b.chain where b.height > c.height
union all
select format('observation %d of %s', o.seq, o.txid),
  iif(o.block_height is null, 'confirmed, and in no block',
    format('confirmed in block %d %s', o.block_height, o.block_hash)),
  format('in a block that is kept, or deeper than block %d', d.height)
from observations o join chain_cursors c on c.chain = o.chain join oldest d on d.chain = o.chain
-- `coffer doctor` reports confirmations that could not be reversed
where o.mode = 'live' and o.state = 'confirmed' and o.unbookable_at is null
  and (o.block_height is null or o.block_height > c.height
    or o.block_height >= d.height and not exists (select 1 from chain_blocks b
      where b.chain = o.chain and b.height = o.block_height and b.hash = o.block_hash))
