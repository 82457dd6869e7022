update pool_addresses set state = 'assigned', account = :account, assigned_at = :now
where seq = (select seq from pool_addresses where pool = :pool and state = 'free' order by seq limit 1)
returning address
