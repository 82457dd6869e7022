select * from invoices where seq = :seq
