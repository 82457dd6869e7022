update deliveries set next_attempt_at = :now where state = 'pending' and next_attempt_at > :latest
