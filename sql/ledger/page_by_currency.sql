select seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at from ledger
where account = :account and mode = :mode and currency = :currency and seq < :before order by seq desc limit :limit
