update file set snapshot_at = :now
