insert into deposits (id, account, mode, customer, observation, rate, gross, fee, was_confirmed, created_at)
values (:id, :account, :mode, :customer, :observation, :rate, :gross, :fee, 0, :created_at)
