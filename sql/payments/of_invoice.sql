select * from payments where invoice = :invoice order by seq
