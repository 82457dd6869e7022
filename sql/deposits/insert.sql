insert into deposits (id, account, mode, customer, observation, rate, rate_source, rate_at, rate_spread_bps,
  rate_evidence, fixed_at, gross, fee, was_confirmed, created_at)
values (:id, :account, :mode, :customer, :observation, :rate, :rate_source, :rate_at, :rate_spread_bps,
  :rate_evidence, :fixed_at, :gross, :fee, 0, :created_at)
