insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at, block_height, block_hash, spends)
values (:mode, :chain, :txid, :position, :asset, :address, :amount, 'seen', :seen_at, :block_height, :block_hash, :spends)
