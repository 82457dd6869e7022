update users set disabled_at = :disabled_at where seq = :seq
