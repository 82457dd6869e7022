-- a new round: due at once, where the endpoint is now
update deliveries set made_before = made_before + attempts, attempts = 0, state = 'pending', next_attempt_at = :now,
  url = :url, lane = :lane
where id = :id
