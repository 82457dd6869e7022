-- of the events up to :until, but none whose endpoint is gone
select d.id, ifnull(n.url, d.url), n.id, e.seq, ifnull(d.endpoint, 0), n.removed_at is not null
from events e cross join deliveries d on d.event = e.seq left join endpoints n on n.seq = d.endpoint
where e.account = :account and e.mode = :mode and e.created_at >= :since and e.seq >= :event and e.seq <= :until
  and (e.seq > :event or ifnull(d.endpoint, 0) > :place)
  and n.removed_at is null and (:endpoint is null or n.id = :endpoint)
order by e.seq, ifnull(d.endpoint, 0) limit :limit
