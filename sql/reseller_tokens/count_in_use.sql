select count(*) from reseller_tokens where account = :account and revoked_at is null
