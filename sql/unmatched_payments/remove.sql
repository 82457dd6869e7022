delete from unmatched_payments where seq = :seq
