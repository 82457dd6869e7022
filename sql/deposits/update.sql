update deposits set status = :status, was_confirmed = max(was_confirmed, :status = 'confirmed'), confirmed_at = :confirmed_at,
  fee = :fee
where seq = :seq and status = :before
