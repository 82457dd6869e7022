update reseller_tokens set last_used_at = :now where id = :id and (last_used_at is null or last_used_at < :now)
