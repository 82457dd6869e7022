select legacy_secret_old_until from accounts where seq = :seq
