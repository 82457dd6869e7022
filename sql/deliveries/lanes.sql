-- every lane that has something pending, and when its first is due; skips from lane to lane in the index
with recursive lanes (lane) as (
  select min(lane) from deliveries where state = 'pending'
  union all
  select (select min(lane) from deliveries where state = 'pending' and lane > lanes.lane) from lanes
  where lanes.lane is not null
)
select lane, (select min(next_attempt_at) from deliveries d where d.state = 'pending' and d.lane = lanes.lane)
from lanes where lane is not null
