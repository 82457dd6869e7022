select exists (select 1 from pool_addresses where pool = :pool)
