select t.seq, t.id, t.observation, o.txid, o.state from own_transfers t join observations o on o.seq = t.observation
where t.observation = :observation
