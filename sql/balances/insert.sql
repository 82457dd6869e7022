insert into balances (account, mode, currency, available, sales, fees, payouts, refunds, adjustments, reserved)
values (:account, :mode, :currency, :sales + :fees + :payouts + :refunds + :adjustments, :sales, :fees, :payouts,
  :refunds, :adjustments, 0)
