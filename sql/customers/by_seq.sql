select seq, account, mode, ref, created_at from customers where seq = :seq
