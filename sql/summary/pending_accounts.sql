select count(*) from accounts where status = 'pending'
