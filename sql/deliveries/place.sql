select d.event, ifnull(d.endpoint, 0) from deliveries d join events e on e.seq = d.event
where d.id = :id and e.account = :account and e.mode = :mode
