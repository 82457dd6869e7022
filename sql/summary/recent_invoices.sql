-- Counts the invoices after the newest one that is too old, in an index for each status.
select status, count(*) as count from invoices
where account = :account and mode = :mode
  and status in ('created', 'awaiting_payment', 'detected', 'confirmed', 'overpaid', 'underpaid', 'expired', 'paid_late',
    'cancelled', 'failed')
  and seq > :after
group by status
