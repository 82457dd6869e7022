select id, account, class, mode, last4, created_at, last_used_at, revoked_at, expires_at from keys
where account = :account order by rowid
