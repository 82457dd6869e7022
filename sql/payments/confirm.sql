update payments set was_confirmed = 1 where seq = :seq
