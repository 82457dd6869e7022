select u.seq, u.id, u.observation, o.state, o.mode, o.asset, o.txid, o.position, o.address, o.amount, u.reason, a.id, i.id,
  o.seen_at, u.resolved_at, u.note
from unmatched_payments u join observations o on o.seq = u.observation left join accounts a on a.seq = u.account
  left join invoices i on i.seq = u.invoice
where u.resolved_at is null and u.seq < :before order by u.seq desc limit :limit
