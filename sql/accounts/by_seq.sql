select * from accounts where seq = :seq
