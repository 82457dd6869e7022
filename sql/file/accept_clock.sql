-- What was seen later than this was seen by a clock that was wrong.
update file set clock_accepted = clock_accepted + 1, clock_ahead_ms = null, last_tick_at = min(last_tick_at, :wall)
where id = 1
