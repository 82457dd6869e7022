insert into addresses (mode, pool, address, invoice, customer) values (:mode, :pool, :address, :invoice, :customer)
