select exists (select 1 from own_addresses where mode = :mode and pool = :pool and address = :address)
