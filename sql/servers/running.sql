select seq, id, account, type, hostname, cpu, ram_mb, disk_gb, status, ordering, address, provider_ref, failure_reason,
  created_at, activated_at, deletion_requested_at, deleted_at
from servers where ordering = 'running'
