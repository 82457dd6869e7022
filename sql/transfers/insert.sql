insert into transfers (id, kind, account, mode, invoice, status, currency, amount, asset, chain, to_address, reason,
  requested_at)
values (:id, :kind, :account, :mode, :invoice, :status, :currency, :amount, :asset, :chain, :to_address, :reason,
  :requested_at)
