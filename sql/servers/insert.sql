insert into servers (id, account, type, hostname, cpu, ram_mb, disk_gb, status, created_at)
values (:id, :account, :type, :hostname, :cpu, :ram_mb, :disk_gb, :status, :created_at)
