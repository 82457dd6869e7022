insert into deposits (id, account, mode, customer, chain, asset, address, txid, position, amount, rate, gross, fee, status,
  was_confirmed, created_at)
values (:id, :account, :mode, :customer, :chain, :asset, :address, :txid, :position, :amount, :rate, :gross, :fee, 'detected',
  0, :created_at)
