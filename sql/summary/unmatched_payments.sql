select count(*) from unmatched_payments where mode = :mode and resolved_at is null
