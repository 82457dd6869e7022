update deliveries set state = :state, attempts = :attempts, next_attempt_at = :next_attempt_at
where id = :id and state = 'pending' and attempts < :attempts
