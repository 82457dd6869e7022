-- An attempt may end after its delivery was given up. It is counted, and a success makes the delivery delivered.
update deliveries set attempts = :number - made_before,
  state = case when state = 'pending' or :state = 'delivered' then :state else state end,
  next_attempt_at = case when state = 'pending' then :next_attempt_at end
where seq = :seq and state <> 'delivered' and made_before + attempts < :number
