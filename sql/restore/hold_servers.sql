-- each may have been ordered since
update servers set ordering = 'unknown' where status in ('queued', 'provisioning')
