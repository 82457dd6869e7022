update unmatched_payments set resolved_at = ifnull(resolved_at, :now), note = :note where id = :id
