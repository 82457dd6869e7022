select count(*) from servers where ordering = 'unknown'
