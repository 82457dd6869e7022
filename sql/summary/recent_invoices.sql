-- Reads from the newest invoice back to the first that is too old.
select status, count(*) as count from invoices
where account = :account and mode = :mode and created_at >= :since
  and seq > ifnull((select seq from invoices
    where account = :account and mode = :mode and created_at < :since order by seq desc limit 1), 0)
group by status
