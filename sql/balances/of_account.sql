select currency, available, reserved, sales, fees, payouts, refunds from balances
where account = :account and mode = :mode
