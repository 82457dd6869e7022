update payments
set seen_at = :seen_at, on_time = :on_time, rate = :rate, rate_source = :rate_source, rate_at = :rate_at,
  rate_spread_bps = :rate_spread_bps, rate_evidence = :rate_evidence, value = :value
where seq = :seq and was_confirmed = 0
