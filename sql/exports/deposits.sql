select d.seq, d.id, c.ref, d.status, d.chain, d.asset, d.address, d.txid, d.amount, d.rate, d.gross, d.fee, d.created_at,
  d.confirmed_at
from deposits d join customers c on c.seq = d.customer
where d.account = :account and d.mode = :mode and d.seq > :after and (:from is null or d.created_at >= :from)
  and (:to is null or d.created_at < :to)
order by d.seq limit :limit
