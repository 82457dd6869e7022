update file set last_tick_at = iif(:set_back, :now, max(last_tick_at, :now)), clock_ahead_ms = :ahead_ms where id = 1
