select seq, id, order_id as "orderId", status, amount, currency, description, asset, rate,
  amount_expected as "amountExpected", amount_received as "amountReceived", deposit_address as "depositAddress",
  customer_email as "customerEmail", refunded as "refundedAmount", created_at as "createdAt", expires_at as "expiresAt",
  confirmed_at as "confirmedAt", cancelled_at as "cancelledAt"
from invoices
where account = :account and mode = :mode and seq > :after and (:from is null or created_at >= :from)
  and (:to is null or created_at < :to)
order by seq limit :limit
