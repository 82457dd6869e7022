select u.seq, u.id, u.mode, u.asset, u.txid, u.position, u.address, u.amount, u.reason, a.id, i.id, u.seen_at, u.resolved_at,
  u.note
from unmatched_payments u left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice
where u.id = :id
