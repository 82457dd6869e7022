insert into users (id, email, password_hash, role, account, created_at)
values (:id, :email, :password_hash, :role, :account, :created_at)
