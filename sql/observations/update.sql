-- what is in no block any more stands in none
update observations set state = :state, confirmed_at = :confirmed_at,
  block_height = iif(:state = 'confirmed', block_height, null), block_hash = iif(:state = 'confirmed', block_hash, null)
where seq = :seq and state = :before
