select id, body from events
where object_id = :object and account = :account and mode = :mode and (:type is null or type = :type)
  and seq < :before
order by seq desc limit :limit
