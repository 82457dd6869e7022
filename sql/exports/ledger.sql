select seq, id, currency, amount, kind, ref_type as "refType", ref_id as "refId", fee_bps as "feeBps", memo,
  created_at as "createdAt"
from ledger
where account = :account and mode = :mode and seq > :after and (:from is null or created_at >= :from)
  and (:to is null or created_at < :to) and (:currency is null or currency = :currency)
order by seq limit :limit
