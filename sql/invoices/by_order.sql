select * from invoices where account = :account and mode = :mode and order_id = :order_id
