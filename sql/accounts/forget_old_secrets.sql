update accounts set legacy_secret_old = null, legacy_secret_old_until = null where legacy_secret_old_until <= :now
