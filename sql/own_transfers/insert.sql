insert into own_transfers (id, observation) values (:id, :observation)
