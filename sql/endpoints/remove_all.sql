update endpoints set removed_at = :now where account = :account and removed_at is null
