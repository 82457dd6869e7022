select * from payments where id = :id
