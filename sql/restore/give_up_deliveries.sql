-- each may have arrived since; any can be sent again
update deliveries set state = 'failed', next_attempt_at = null where state = 'pending'
