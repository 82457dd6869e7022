select count(*) from pool_addresses where account = :account and pool = :pool and assigned_at >= :since
