select (select count(*) from invoices), (select count(*) from payments), (select count(*) from deposits),
  (select count(*) from transfers), (select count(*) from ledger), (select count(*) from events),
  (select count(*) from deliveries), (select count(*) from addresses)
