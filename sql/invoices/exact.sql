-- Invoices whose orderId or email is the text, each by its index. An email can have many invoices: its search ends at the
-- limit.
select seq, id, account, mode, order_id, status, amount, currency, description, asset, rate, amount_expected,
  amount_received, deposit_address, picked_quote, redirect_url, cancel_url, webhook_url, metadata, customer_email,
  payment_link_id, refunded, under_bps, over_bps, created_at, expires_at, confirmed_at, cancelled_at, waits_for
from invoices
where seq in (select seq from invoices where account = :account and mode = :mode and order_id = :text
    union all select seq from (select seq from invoices indexed by invoices_by_email
      where account = :account and mode = :mode and customer_email = :text collate nocase and seq < :before
        and (:status is null or status = :status) and (:currency is null or currency = :currency)
        and (:from is null or created_at >= :from) and (:to is null or created_at < :to)
      order by seq desc limit :limit))
  and seq < :before and (:status is null or status = :status) and (:currency is null or currency = :currency)
  and (:from is null or created_at >= :from) and (:to is null or created_at < :to)
order by seq desc limit :limit
