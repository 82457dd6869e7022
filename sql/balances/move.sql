update balances set available = available + :sales + :fees + :payouts + :refunds + :adjustments, sales = sales + :sales,
  fees = fees + :fees, payouts = payouts + :payouts, refunds = refunds + :refunds,
  adjustments = adjustments + :adjustments
where account = :account and mode = :mode and currency = :currency
