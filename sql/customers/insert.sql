insert into customers (account, mode, ref, created_at) values (:account, :mode, :ref, :created_at)
