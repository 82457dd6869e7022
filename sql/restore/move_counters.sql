-- the older copy does not know what was handed out since
update address_counters set next_index = next_index + :gap returning mode, pool, next_index
