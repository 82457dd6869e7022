-- Real positions in a transaction are below 2^31. Observations whose position another output has taken get higher ones,
-- in order.
update observations set position = (
  select ifnull(max(o.position), 2147483647) + 1 from observations o
  where o.mode = observations.mode and o.chain = observations.chain and o.txid = observations.txid
    and o.position > 2147483647)
where seq = :seq
