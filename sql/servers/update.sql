update servers set status = :status, ordering = :ordering, address = :address, provider_ref = :provider_ref,
  failure_reason = :failure_reason, activated_at = :activated_at, deletion_requested_at = :deletion_requested_at,
  deleted_at = :deleted_at
where seq = :seq and status = :status_before and ordering is :ordering_before
