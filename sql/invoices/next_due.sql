select min(expires_at) from invoices where status in ('created', 'awaiting_payment')
