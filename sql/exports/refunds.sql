select t.seq, t.id, i.id, t.status, t.amount, t.currency, t.chain, t.asset, t.to_address, t.amount_crypto, t.network_fee,
  t.rate, t.txid, t.reason, t.failure_reason, t.requested_at, t.approved_at, t.finalized_at
from transfers t left join invoices i on i.seq = t.invoice
where t.account = :account and t.mode = :mode and t.kind = 'refund' and t.seq > :after
  and (:from is null or t.requested_at >= :from) and (:to is null or t.requested_at < :to)
order by t.seq limit :limit
