select d.seq, d.id, d.account, d.mode, d.customer, c.ref, d.observation, o.asset, o.address, o.txid, o.position, o.amount, d.rate,
  d.rate_source, d.rate_at, d.fixed_at, d.gross, d.fee, o.state, d.was_confirmed, d.created_at, o.confirmed_at
from deposits d join customers c on c.seq = d.customer join observations o on o.seq = d.observation
where d.observation = :observation
