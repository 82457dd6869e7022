select exists (select 1 from keys where hash = :hash)
