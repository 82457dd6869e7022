insert into sessions (hash, user, created_at, expires_at, password_at)
values (:hash, :user, :created_at, :expires_at, :password_at)
