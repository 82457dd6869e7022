-- Invoices from :floor on that may have the text in a column or in their metadata.
select seq, id, account, mode, order_id, status, amount, currency, description, asset, rate, amount_expected,
  amount_received, deposit_address, picked_quote, redirect_url, cancel_url, webhook_url, metadata, customer_email,
  payment_link_id, refunded, under_bps, over_bps, created_at, expires_at, confirmed_at, cancelled_at, waits_for
from invoices
where account = :account and mode = :mode and seq < :before and seq >= :floor
  and (:currency is null or currency = :currency)
  and (:from is null or created_at >= :from) and (:to is null or created_at < :to)
  and (:like is null or id like :like escape '\' or order_id like :like escape '\' or description like :like escape '\'
    or customer_email like :like escape '\'
    or metadata like :in_json escape '\' or instr(metadata, :key) and metadata like :value escape '\')
order by seq desc
