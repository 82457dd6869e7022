-- The queues after :after with a pending delivery, in the order of their creation: when the first delivery of each is due,
-- and whether it was tried before. Skips from queue to queue in the index.
with recursive queues (queue) as (
  select min(queue) from deliveries where state = 'pending' and queue > :after
  union all
  select (select min(queue) from deliveries where state = 'pending' and queue > queues.queue) from queues
  where queues.queue is not null
  limit :limit
)
select q.seq, q.account, q.origin, (select id from endpoints where seq = q.endpoint) as endpoint,
  d.next_attempt_at as due_at, d.attempts > 0 as was_tried
from queues cross join webhook_queues q on q.seq = queues.queue
  cross join deliveries d on d.seq = (select seq from deliveries f
    where f.state = 'pending' and f.queue = queues.queue order by f.next_attempt_at limit 1)
