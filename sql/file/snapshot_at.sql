select snapshot_at from file
