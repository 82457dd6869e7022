select d.seq, d.id, c.ref as customer, iif(o.state = 'seen', 'detected', o.state) as status, o.chain, o.asset, o.address,
  o.txid, o.amount as "amountCrypto", d.rate, d.gross as "grossEur", d.fee as "feeEur", d.created_at as "createdAt",
  o.confirmed_at as "confirmedAt", d.gross - d.fee as "netEur", 'EUR' as currency
from deposits d join customers c on c.seq = d.customer join observations o on o.seq = d.observation
where d.account = :account and d.mode = :mode and d.seq > :after and (:from is null or d.created_at >= :from)
  and (:to is null or d.created_at < :to) and (:customer is null or c.ref = :customer)
order by d.seq limit :limit
