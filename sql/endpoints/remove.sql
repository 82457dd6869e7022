update endpoints set removed_at = :now where account = :account and id = :id and removed_at is null
