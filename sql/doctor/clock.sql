select
  format('the wall clock is %d s %s the time that the server goes by', abs(clock_ahead_ms) / 1000,
    iif(clock_ahead_ms < 0, 'behind', 'ahead of')) as about,
  'set it right; if it is right, say so with `coffer doctor --accept-clock`' as mend
from file where clock_ahead_ms is not null
union all
select
  format('the wall clock is %d s behind what the file has seen', (last_tick_at - :now) / 1000),
  'set it right; if it is right, say so with `coffer doctor --accept-clock`'
from file where clock_ahead_ms is null and last_tick_at > :now + 60000
