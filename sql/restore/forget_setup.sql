update file set setup_hash = null, setup_expires_at = null
