select count(*) from servers where account = :account and status not in ('failed', 'deleted')
