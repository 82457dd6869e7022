select seq, id, order_id as "orderId", status, amount, currency, description, asset, rate,
  amount_expected as "amountExpected", amount_received as "amountReceived", deposit_address as "depositAddress",
  customer_email as "customerEmail", refunded as "refundedAmount", created_at as "createdAt", expires_at as "expiresAt",
  confirmed_at as "confirmedAt", cancelled_at as "cancelledAt",
  (select coalesce(-sum(l.amount), 0) from payments p cross join observations o on o.seq = p.observation
    cross join ledger l on l.payment = p.seq
    where p.invoice = invoices.seq and o.state = 'confirmed' and l.kind = 'fee') as fee
from invoices
where account = :account and mode = :mode and seq > :after and (:from is null or created_at >= :from)
  and (:to is null or created_at < :to)
order by seq limit :limit
