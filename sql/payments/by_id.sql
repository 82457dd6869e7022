select p.seq, p.id, p.invoice, p.quote, p.observation, o.mode, o.asset, o.txid, o.position, o.amount, p.rate,
  p.rate_source, p.rate_at, p.value, p.on_time, o.state, p.was_confirmed, p.seen_at, o.confirmed_at
from payments p join observations o on o.seq = p.observation
where p.id = :id
