update observations set state = :state, confirmed_at = :confirmed_at where seq = :seq and state = :before
