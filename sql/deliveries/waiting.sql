-- The queues after :after with a pending delivery, by name: when the first delivery of each is due, and whether it was
-- tried before. Skips from queue to queue in the index.
with recursive queues (lane) as (
  select min(lane) from deliveries where state = 'pending' and lane > :after
  union all
  select (select min(lane) from deliveries where state = 'pending' and lane > queues.lane) from queues
  where queues.lane is not null
  limit :limit
)
select d.lane as queue, d.next_attempt_at as due_at, d.attempts > 0 as was_tried
from queues cross join deliveries d on d.rowid = (select rowid from deliveries f
  where f.state = 'pending' and f.lane = queues.lane order by f.next_attempt_at limit 1)
where queues.lane is not null
