select a.wallet_index
from addresses a
where a.wallet = :wallet and exists (
  select 1 from observations o
  where o.mode = 'live' and o.address = a.address and o.state <> 'dropped'
    and (o.chain = :pool or (:pool = 'evm' and o.chain in ('ethereum', 'base', 'polygon'))))
order by a.wallet_index
