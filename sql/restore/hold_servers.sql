-- each may have been made or removed since
update servers set status = iif(status = 'queued', 'provisioning', status), ordering = 'unknown'
where status in ('queued', 'provisioning') or (status = 'active' and deletion_requested_at is not null)
