select d.id, e.id, e.type, e.object_id, n.id, d.url, d.state, d.next_attempt_at, e.created_at
from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint
where d.id = :id and e.account = :account and e.mode = :mode
