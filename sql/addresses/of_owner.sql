-- one of the two is null
select address from addresses where invoice = :invoice and pool = :pool
union all
select address from addresses where customer = :customer and pool = :pool
