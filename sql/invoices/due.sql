select seq from invoices where status in ('created', 'awaiting_payment') and expires_at <= :now
order by expires_at limit :limit
