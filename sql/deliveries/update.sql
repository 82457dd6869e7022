-- An attempt that ends after its delivery was given up is counted, and makes it delivered if it succeeded.
update deliveries set attempts = :number - made_before,
  state = case when state = 'pending' or :state = 'delivered' then :state else state end,
  next_attempt_at = case when state = 'pending' then :next_attempt_at end
where id = :id and state <> 'delivered' and made_before + attempts < :number
