-- as page.sql, by the index of what was not taken
select d.id, e.id, e.type, e.object_id, n.id, d.url, d.state, d.next_attempt_at, e.created_at
from deliveries d indexed by deliveries_not_taken cross join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint
where d.state <> 'delivered' and d.state = :state and d.event >= :from and d.event <= :event
  and (d.event < :event or ifnull(d.endpoint, 0) < :place) and e.account = :account and e.mode = :mode
order by d.event desc, ifnull(d.endpoint, 0) desc limit :limit
