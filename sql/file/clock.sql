select last_tick_at, clock_accepted from file where id = 1
