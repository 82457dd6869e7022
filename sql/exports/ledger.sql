select seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at from ledger
where account = :account and mode = :mode and seq > :after and (:from is null or created_at >= :from)
  and (:to is null or created_at < :to)
order by seq limit :limit
