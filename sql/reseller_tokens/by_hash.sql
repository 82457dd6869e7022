select id, account, last_used_at from reseller_tokens where hash = :hash and revoked_at is null
