update pool_addresses set state = 'retired' where state = 'free'
