select id from invoices where account = :account and mode = :mode order by seq desc limit :limit
