insert into balances (account, mode, currency, available, sales, fees, payouts, refunds, adjustments, reserved)
values (:account, :mode, :currency, :sales + :fees + :payouts + :refunds + :adjustments, :sales, :fees, :payouts,
  :refunds, :adjustments, 0)
on conflict (account, mode, currency) do update set
  available = available + excluded.available, sales = sales + excluded.sales, fees = fees + excluded.fees,
  payouts = payouts + excluded.payouts, refunds = refunds + excluded.refunds,
  adjustments = adjustments + excluded.adjustments
