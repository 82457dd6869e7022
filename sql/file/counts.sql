select (select count(*) from invoices), (select count(*) from payments), (select count(*) from events),
  (select count(*) from deliveries), (select count(*) from deliveries where state = 'pending')
