update file set last_tick_at = :now where id = 1 and last_tick_at < :now
