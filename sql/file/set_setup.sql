update file set setup_hash = :hash, setup_expires_at = :expires_at
