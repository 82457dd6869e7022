select seq, account, mode, ref, created_at from customers where account = :account and mode = :mode and ref = :ref
