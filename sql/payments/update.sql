update payments set state = :state, was_confirmed = max(was_confirmed, :state = 'confirmed'),
  confirmed_at = :confirmed_at
where seq = :seq and state = :before
