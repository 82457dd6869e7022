update endpoints set secret_old = secret, secret_old_until = :until, secret = :secret
where seq = :seq and removed_at is null
