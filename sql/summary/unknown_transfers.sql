select count(*) from transfers where mode = :mode and sending = 'unknown'
