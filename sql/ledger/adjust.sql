insert into ledger (id, account, mode, currency, amount, kind, ref_type, memo, created_at)
values (:id, :account, :mode, :currency, :amount, 'adjustment', 'admin', :memo, :created_at)
