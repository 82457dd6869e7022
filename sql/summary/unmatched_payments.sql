select count(*) from unmatched_payments u cross join observations o
where o.seq = u.observation and u.resolved_at is null and o.mode = :mode
