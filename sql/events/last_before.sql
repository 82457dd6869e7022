-- the newest that is older than a moment
select seq from events where account = :account and mode = :mode and created_at < :since order by seq desc limit 1
