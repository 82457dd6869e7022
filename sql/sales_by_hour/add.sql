-- Adds a sale of a payment or a deposit to its hour.
insert into sales_by_hour (account, mode, hour, currency, asset, count, amount)
select :account, :mode, :created_at / 3600000, :currency, o.asset, 1, :amount from observations o
where o.seq = coalesce((select observation from payments where seq = :payment),
  (select observation from deposits where seq = :deposit))
on conflict (account, mode, hour, currency, asset) do update
set count = count + excluded.count, amount = amount + excluded.amount
