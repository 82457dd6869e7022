select * from accounts where id = :id
