insert into ledger (id, account, mode, currency, amount, kind, ref_type, ref_id, fee_bps, memo, payment, deposit, transfer,
  reverses, created_at)
values (:id, :account, :mode, :currency, :amount, :kind, :ref_type, :ref_id, :fee_bps, :memo, :payment, :deposit, :transfer,
  :reverses, :created_at)
