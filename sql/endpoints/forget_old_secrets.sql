update endpoints set secret_old = null, secret_old_until = null where secret_old_until <= :now
