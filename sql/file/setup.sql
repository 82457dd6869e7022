select setup_hash, setup_expires_at from file where setup_hash is not null
