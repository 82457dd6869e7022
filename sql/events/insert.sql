insert into events (id, account, mode, type, object_id, created_at, body, invoice)
values (:id, :account, :mode, :type, :object_id, :created_at, :body, :invoice)
