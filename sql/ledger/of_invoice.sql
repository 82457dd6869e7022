select payment, seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at from ledger
where payment in (select seq from payments where invoice = :invoice) order by seq
