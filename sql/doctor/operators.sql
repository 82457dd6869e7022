select 'nobody can sign in as operator' as about, 'use the link that `coffer serve` prints when it starts, or `coffer user create EMAIL --role operator`' as mend
where not exists (select 1 from users where role = 'operator' and disabled_at is null)
