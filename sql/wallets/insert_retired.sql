insert into wallets
  (mode, pool, network, next_index, least_index, id, name, script, key, chain_code, first_index, created_at, added_at,
    retired_at, stopped_at, stopped_index)
values
  (:mode, :pool, :network, :next, :least, :id, :name, :script, :key, :chain_code, :first, :created_at, :added_at,
    -- a simulated wallet cannot be retired
    iif(:id is null, null, :now), :stopped_at, :stopped_index)
