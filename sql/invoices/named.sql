-- Invoices whose id, address or txid is the text, each by its index. Addresses and txids are in the form of each chain.
select seq, id, account, mode, order_id, status, amount, currency, description, asset, rate, amount_expected,
  amount_received, deposit_address, picked_quote, redirect_url, cancel_url, webhook_url, metadata, customer_email,
  payment_link_id, refunded, under_bps, over_bps, created_at, expires_at, confirmed_at, cancelled_at, waits_for
from invoices
where account = :account and mode = :mode and (:status is null or status = :status) and seq < :before
  and (:currency is null or currency = :currency)
  and (:from is null or created_at >= :from) and (:to is null or created_at < :to)
  and seq in (select seq from invoices where id = :text
    union select a.invoice from json_each(:addresses) t join addresses a on a.pool = t.key and a.address = t.value
      where a.mode = :mode
    union select p.invoice from json_each(:txids) t join observations o on o.chain = t.key and o.txid = t.value
      join payments p on p.observation = o.seq
      where o.mode = :mode)
order by seq desc limit :limit
