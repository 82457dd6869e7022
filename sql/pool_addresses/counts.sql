select count(*) filter (where state = 'free'), count(*) filter (where state = 'assigned'),
  count(*) filter (where state = 'retired')
from pool_addresses where pool = :pool
