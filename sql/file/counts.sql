select (select count(*) from invoices), (select count(*) from payments),
  (select count(*) from transfers where kind = 'payout'), (select count(*) from transfers where kind = 'refund'),
  (select count(*) from events), (select count(*) from deliveries),
  (select count(*) from deliveries where state = 'pending')
