select id from invoices where account = :account and mode = :mode and status = :status
order by seq desc limit :limit
