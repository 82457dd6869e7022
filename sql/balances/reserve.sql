update balances set reserved = reserved + :amount
where account = :account and mode = :mode and currency = :currency
