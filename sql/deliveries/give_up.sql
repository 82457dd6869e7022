update deliveries set state = 'failed', next_attempt_at = null where id = :id and state = 'pending'
