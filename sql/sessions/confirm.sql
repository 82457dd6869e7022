update sessions set password_at = :password_at where hash = :hash and user = :user
