select count(*) from keys
where account = :account and revoked_at is null and (expires_at is null or expires_at > :now)
