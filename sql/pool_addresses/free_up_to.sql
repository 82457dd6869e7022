select count(*) from (select 1 from pool_addresses where pool = :pool and state = 'free' limit :limit)
