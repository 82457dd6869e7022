-- Counts the invoices after the newest one that is too old, in an index for each status.
select status, count(*) as count from invoices
where account = :account and mode = :mode
  and status in ('created', 'awaiting_payment', 'detected', 'confirmed', 'overpaid', 'underpaid', 'expired', 'paid_late',
    'cancelled', 'failed')
  and seq > ifnull((select seq from invoices indexed by invoices_by_time
    where account = :account and mode = :mode and created_at < :since order by created_at desc, seq desc limit 1), 0)
group by status
