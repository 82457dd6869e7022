update keys set expires_at = :expires_at where id = :id and revoked_at is null and expires_at is null
