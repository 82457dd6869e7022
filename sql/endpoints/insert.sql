insert into endpoints (id, account, mode, url, secret, format, types, enabled, created_at)
values (:id, :account, :mode, :url, :secret, :format, :types, :enabled, :created_at)
