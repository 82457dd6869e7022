-- to be made or to be removed, and nobody has begun
select count(*) from servers
where (status = 'queued' or (status = 'active' and deletion_requested_at is not null)) and ordering is null
