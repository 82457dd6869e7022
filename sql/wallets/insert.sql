insert into wallets
  (mode, pool, network, next_index, least_index, id, name, script, key, chain_code, first_index, created_at, added_at)
values
  ('live', :pool, :network, :next, :least, :id, :name, :script, :key, :chain_code, :first, :now,
    -- later than that of every other wallet of the pool, even if the clock was set back
    max(:now, ifnull((select max(added_at) + 1 from wallets where pool = :pool), :now)))
