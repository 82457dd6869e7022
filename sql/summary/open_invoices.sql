select status, count(*) from invoices
where account = :account and mode = :mode and status in ('created', 'awaiting_payment', 'detected')
group by status
