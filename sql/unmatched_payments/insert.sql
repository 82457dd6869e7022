insert into unmatched_payments (id, mode, chain, asset, txid, position, address, amount, reason, account, invoice, seen_at)
values (:id, :mode, :chain, :asset, :txid, :position, :address, :amount, :reason, :account, :invoice, :seen_at)
