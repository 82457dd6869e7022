select seq, id, email, role, account, created_at, disabled_at from users where id = :id
