select a.wallet_index, a.address, o.asset, o.amount
from (
  select wallet_index, address from addresses
  where wallet = :wallet and wallet_index >= :from order by wallet_index limit :limit
) a
left join observations o on o.mode = 'live' and o.address = a.address and o.state <> 'dropped'
  and (o.chain = :pool or (:pool = 'evm' and o.chain in ('ethereum', 'base', 'polygon')))
order by a.wallet_index, o.asset
