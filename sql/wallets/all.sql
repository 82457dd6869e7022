select seq, mode, pool, next_index from wallets
