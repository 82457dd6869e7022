-- every invoice in order, for judging each again
select seq from invoices where seq > :after order by seq limit :limit
