insert into addresses (mode, pool, address, invoice, customer, wallet, wallet_index, script)
values (:mode, :pool, :address, :invoice, :customer, :wallet, :index, :script)
