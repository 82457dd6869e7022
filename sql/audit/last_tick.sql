select last_tick_at from file where id = 1
