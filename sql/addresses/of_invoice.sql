select address from addresses where invoice = :invoice and pool = :pool
