select id, account, last4, created_at, last_used_at, revoked_at from reseller_tokens where id = :id and account = :account
