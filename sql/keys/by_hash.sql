select id, account, class, mode, last_used_at, expires_at from keys where hash = :hash and revoked_at is null
