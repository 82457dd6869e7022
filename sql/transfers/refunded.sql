select ifnull(sum(amount), 0) from transfers
where invoice = :invoice and status not in ('failed', 'rejected', 'cancelled')
