select d.seq, d.id, c.ref, iif(o.state = 'seen', 'detected', o.state), o.chain, o.asset, o.address, o.txid, o.amount, d.rate, d.gross, d.fee, d.created_at,
  o.confirmed_at
from deposits d join customers c on c.seq = d.customer join observations o on o.seq = d.observation
where d.account = :account and d.mode = :mode and d.seq > :after and (:from is null or d.created_at >= :from)
  and (:to is null or d.created_at < :to)
order by d.seq limit :limit
