select id, body from events
where account = :account and mode = :mode and type = :type and seq < :before
order by seq desc limit :limit
