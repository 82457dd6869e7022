-- Invoices in the order of insertion. With a text, those up to :reach that may have the text in a column or in their
-- metadata, or those in :named.
select seq, id, order_id as "orderId", status, amount, currency, description, asset, rate,
  amount_expected as "amountExpected", amount_received as "amountReceived", deposit_address as "depositAddress",
  customer_email as "customerEmail", refunded as "refundedAmount", created_at as "createdAt", expires_at as "expiresAt",
  confirmed_at as "confirmedAt", cancelled_at as "cancelledAt",
  (select coalesce(-sum(l.amount), 0) from payments p cross join observations o on o.seq = p.observation
    cross join ledger l on l.payment = p.seq
    where p.invoice = invoices.seq and o.state = 'confirmed' and l.kind = 'fee') as fee
from invoices
where account = :account and mode = :mode and seq > :after and seq <= :reach
  and (:from is null or created_at >= :from) and (:to is null or created_at < :to)
  and (:status is null or status = :status) and (:currency is null or currency = :currency)
  and (:named is null or seq in (select value from json_each(:named)))
  and (:like is null or id like :like escape '\' or order_id like :like escape '\' or description like :like escape '\'
    or customer_email like :like escape '\'
    or metadata like :in_json escape '\' or instr(metadata, :key) and metadata like :value escape '\')
order by seq limit :limit
