-- Sales by day, in UTC. Reads from the newest sale back to the first that is too old.
select currency, created_at / 86400000 as day, count(*) as count, sum(amount) as amount from ledger
where account = :account and mode = :mode and kind = 'sale' and created_at >= :since
  and seq > ifnull((select seq from ledger
    where account = :account and mode = :mode and created_at < :since order by seq desc limit 1), 0)
group by currency, day
