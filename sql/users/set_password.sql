update users set password_hash = :password_hash where seq = :seq
