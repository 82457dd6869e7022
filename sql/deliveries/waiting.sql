-- The queues after :after with a pending delivery, in the order of their creation: when the first delivery of each is due,
-- and whether it was tried before. Skips from queue to queue in the index.
with recursive queues (queue) as (
  select min(queue) from deliveries
  where state = 'pending' and queue > ifnull((select seq from webhook_queues where name = :after), 0)
  union all
  select (select min(queue) from deliveries where state = 'pending' and queue > queues.queue) from queues
  where queues.queue is not null
  limit :limit
)
select (select name from webhook_queues where seq = d.queue) as queue, d.next_attempt_at as due_at, d.attempts > 0 as was_tried
from queues cross join deliveries d on d.seq = (select seq from deliveries f
  where f.state = 'pending' and f.queue = queues.queue order by f.next_attempt_at limit 1)
where queues.queue is not null
