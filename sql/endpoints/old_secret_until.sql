select secret_old_until from endpoints where seq = :seq
