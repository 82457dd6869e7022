insert into unmatched_payments (id, observation, reason, account, invoice)
values (:id, :observation, :reason, :account, :invoice)
