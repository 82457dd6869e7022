insert into payments (id, invoice, quote, observation, rate, rate_source, rate_at, rate_spread_bps, rate_evidence, value,
  on_time, was_confirmed, seen_at, created_at)
values (:id, :invoice, :quote, :observation, :rate, :rate_source, :rate_at, :rate_spread_bps, :rate_evidence, :value,
  :on_time, 0, :seen_at, :created_at)
