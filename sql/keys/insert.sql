insert into keys (id, account, class, mode, hash, last4, created_at)
values (:id, :account, :class, :mode, :hash, :last4, :created_at)
