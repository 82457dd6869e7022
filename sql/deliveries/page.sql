-- of the events from :from on, in the order of the events and within one of the endpoints
select d.id, e.id, e.type, e.object_id, n.id, d.url, d.state, d.next_attempt_at, e.created_at
from events e cross join deliveries d on d.event = e.seq left join endpoints n on n.seq = d.endpoint
where e.account = :account and e.mode = :mode and e.seq >= :from and e.seq <= :event
  and (e.seq < :event or ifnull(d.endpoint, 0) < :place) and (:state is null or d.state = :state)
order by e.seq desc, ifnull(d.endpoint, 0) desc limit :limit
