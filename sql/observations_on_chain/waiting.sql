select o.seq as seq, o.txid as txid, o.position as position, o.block_height as height, o.asset as asset, p.invoice as invoice,
  d.customer as customer
from observations o
  left join payments p on p.observation = o.seq
  left join deposits d on d.observation = o.seq
where o.mode = 'live' and o.chain = :chain and o.state = 'seen' and o.block_height <= :height and o.seq > :after
order by o.seq
limit :limit
