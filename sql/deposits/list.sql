select d.seq, d.id, d.account, d.mode, d.customer, c.ref, d.asset, d.address, d.txid, d.position, d.amount, d.rate, d.gross,
  d.fee, d.status, d.was_confirmed, d.created_at, d.confirmed_at
from deposits d join customers c on c.seq = d.customer
where d.account = :account and d.mode = :mode order by d.seq desc limit :limit
