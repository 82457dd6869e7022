insert into reseller_tokens (id, account, hash, last4, created_at)
values (:id, :account, :hash, :last4, :created_at)
