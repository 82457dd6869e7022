-- Payouts or refunds, as :kind says.
select t.seq, t.id, i.id as invoice, t.status, t.amount, t.currency, t.chain, t.asset, t.to_address as "toAddress",
  t.amount_crypto as "amountCrypto", t.network_fee as "networkFeeCrypto", t.rate, t.txid, t.reason,
  t.failure_reason as "failureReason", t.requested_at as "requestedAt", t.approved_at as "approvedAt",
  t.finalized_at as "finalizedAt"
from transfers t left join invoices i on i.seq = t.invoice
where t.account = :account and t.mode = :mode and t.kind = :kind and t.seq > :after
  and (:from is null or t.requested_at >= :from) and (:to is null or t.requested_at < :to)
  and (:status is null or t.status = :status) and (:named is null or t.seq in (select value from json_each(:named)))
order by t.seq limit :limit
