insert into payments (id, invoice, quote, mode, chain, asset, txid, position, amount, rate, value, on_time,
  state, was_confirmed, seen_at, created_at)
values (:id, :invoice, :quote, :mode, :chain, :asset, :txid, :position, :amount, :rate, :value, :on_time,
  'seen', 0, :seen_at, :created_at)
