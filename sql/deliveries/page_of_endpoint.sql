-- as page.sql, by the index of the endpoint, which is told of an event once
select d.id, e.id, e.type, e.object_id, n.id, d.url, d.state, d.next_attempt_at, e.created_at
from deliveries d cross join events e on e.seq = d.event join endpoints n on n.seq = d.endpoint
where n.id = :endpoint and n.account = :account and e.account = :account and e.mode = :mode
  and d.event >= :from and d.event < :event and (:state is null or d.state = :state)
order by d.event desc limit :limit
