select exists (select 1 from users where role = 'operator' and disabled_at is null)
