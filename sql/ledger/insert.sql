insert into ledger (seq, link, id, account, mode, currency, amount, kind, ref_type, ref_id, fee_bps, memo, payment, deposit,
  transfer, reverses, sale_fee_bps, created_at)
values (:seq, :link, :id, :account, :mode, :currency, :amount, :kind, :ref_type, :ref_id, :fee_bps, :memo, :payment, :deposit,
  :transfer, :reverses, :sale_fee_bps, :created_at)
