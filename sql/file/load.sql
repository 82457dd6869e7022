select kind, checkout_secret, maintenance, clock_offset_ms, clock_frozen_at from file where id = 1
