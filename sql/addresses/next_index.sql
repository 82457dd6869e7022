insert into address_counters (mode, pool, next_index) values (:mode, :pool, 1)
on conflict (mode, pool) do update set next_index = next_index + 1
returning next_index - 1
