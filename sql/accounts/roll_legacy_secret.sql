update accounts set legacy_secret_old = legacy_secret, legacy_secret_old_until = :until, legacy_secret = :secret
where seq = :seq
