select exists (select 1 from accounts where status = 'active' and seq <> :seq)
