select * from payment_links where id = :id
