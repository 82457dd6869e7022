select id, body from events where account = :account and mode = :mode and seq < :before
order by seq desc limit :limit
