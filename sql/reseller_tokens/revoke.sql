update reseller_tokens set revoked_at = :now where id = :id and account = :account and revoked_at is null
