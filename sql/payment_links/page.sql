select * from payment_links where account = :account and mode = :mode and seq < :before
order by seq desc limit :limit
