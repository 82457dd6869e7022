-- of every account and mode: those behind a delivery, the newest first
select d.id, e.id, e.type, n.id, d.url, d.state, d.next_attempt_at
from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint
where (d.event, d.rowid) < (:event, :row)
order by d.event desc, d.rowid desc limit :limit
