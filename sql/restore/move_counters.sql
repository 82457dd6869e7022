-- the older copy does not know what was handed out since
update wallets set next_index = next_index + :gap returning mode, pool, next_index
