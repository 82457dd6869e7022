insert into pool_addresses (pool, address, state, imported_at)
select :pool, :address, 'free', :imported_at
where not exists (select 1 from addresses where mode = 'live' and pool = :pool and address = :address)
on conflict (pool, address) do nothing
