select * from accounts order by seq
