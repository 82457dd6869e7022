update pool_addresses set state = 'assigned'
where seq = (select seq from pool_addresses where pool = :pool and state = 'free' order by seq limit 1)
returning address
