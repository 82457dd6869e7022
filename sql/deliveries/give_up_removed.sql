-- what is still to be sent to endpoints of this account that are gone
update deliveries set state = 'failed', next_attempt_at = null
where state = 'pending' and endpoint in (select seq from endpoints where account = :account and removed_at is not null)
