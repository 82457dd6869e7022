select seq, id, order_id, status, amount, currency, description, asset, rate, amount_expected, amount_received,
  deposit_address, customer_email, refunded, created_at, expires_at, confirmed_at, cancelled_at
from invoices
where account = :account and mode = :mode and seq > :after and (:from is null or created_at >= :from)
  and (:to is null or created_at < :to)
order by seq limit :limit
