insert into addresses (mode, pool, address, invoice) values (:mode, :pool, :address, :invoice)
