-- The open invoices of each payment link that nobody has paid yet. A link has a limited number of them.
create index invoices_open_of_link on invoices (payment_link_id, expires_at)
  where payment_link_id is not null and status in ('created', 'awaiting_payment');
