select * from invoices where id = :id
