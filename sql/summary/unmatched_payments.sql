select count(*) from unmatched_payments u join observations o on o.seq = u.observation
where u.resolved_at is null and o.mode = :mode
