-- in the order of the payments, whose accounts are those of their invoices
select p.seq, p.id, i.id, i.order_id, p.state, p.chain, p.asset, p.txid, p.position, p.amount, p.rate, p.value,
  i.currency, p.on_time, p.seen_at, p.confirmed_at
from payments p cross join invoices i on i.seq = p.invoice
where p.seq > :after and i.account = :account and i.mode = :mode
  and (:from is null or p.created_at >= :from) and (:to is null or p.created_at < :to)
order by p.seq limit :limit
