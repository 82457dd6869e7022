select seq, mode, asset, txid, position, address, amount, seen_at, block_height, block_hash, spends, state, confirmed_at
from observations
where seq = :seq
