select max(imported_at) from pool_addresses where pool = :pool
