select ifnull(sum(amount), 0) from transfers
where account = :account and mode = 'live' and kind = 'payout' and currency = :currency and requested_at > :since
  and status not in ('failed', 'rejected', 'cancelled')
