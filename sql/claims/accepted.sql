-- Accepted claims of this payment: first the one that a node has reported at this position, then those that none has.
select c.seq as seq, o.position as position from claims c join observations o on o.seq = c.observation
where c.chain = :chain and c.txid = :txid and c.outcome = 'recorded' and c.asset = :asset and c.address = :address
  and c.amount = :amount and o.position < 2147483648 and (c.met_position is null or c.met_position = :position)
order by c.met_position is null, c.seq limit 1
