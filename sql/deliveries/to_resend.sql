select d.id, ifnull(n.url, d.url), n.id, e.seq, ifnull(d.endpoint, 0), n.removed_at is not null
from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint
where d.id = :id and e.account = :account and e.mode = :mode
