-- Payments in the order of insertion. A payment belongs to the account of its invoice.
select p.seq, p.id, i.id as invoice, i.order_id as "orderId", o.state, o.chain, o.asset, o.txid, o.position, o.amount,
  p.rate, p.value, i.currency, p.on_time as "onTime", p.seen_at as "seenAt", o.confirmed_at as "confirmedAt",
  iif(o.state = 'confirmed', coalesce((select -l.amount from ledger l where l.payment = p.seq and l.kind = 'fee'), 0), null)
    as fee
from payments p cross join invoices i on i.seq = p.invoice cross join observations o on o.seq = p.observation
where p.seq > :after and i.account = :account and i.mode = :mode
  and (:from is null or p.created_at >= :from) and (:to is null or p.created_at < :to)
order by p.seq limit :limit
