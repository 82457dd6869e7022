update observations set seen_at = :seen_at where seq = :seq and seen_at > :seen_at
