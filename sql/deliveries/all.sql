select d.id, e.id, e.type, n.id, d.url, d.state, d.next_attempt_at
from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint
order by d.event, d.rowid
