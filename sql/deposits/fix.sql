update deposits
set rate = :rate, rate_source = :rate_source, rate_at = :rate_at, rate_spread_bps = :rate_spread_bps,
  rate_evidence = :rate_evidence, fixed_at = :fixed_at, gross = :gross, fee = :fee, was_confirmed = :was_confirmed
where seq = :seq and was_confirmed = 0 and (fixed_at is null or fixed_at = :fixed_at)
