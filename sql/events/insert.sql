insert into events (id, account, mode, type, object_id, created_at, body)
values (:id, :account, :mode, :type, :object_id, :created_at, :body)
