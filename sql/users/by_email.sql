select seq, id, email, role, account, created_at, disabled_at, password_hash from users where email = :email
