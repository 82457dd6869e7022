select exists (select 1 from transfers
  where account = :account and kind = 'payout' and status in ('requested', 'approved', 'processing'))
