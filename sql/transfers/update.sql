update transfers set status = :status, amount_crypto = :amount_crypto, network_fee = :network_fee, rate = :rate,
  network_fee_from = :network_fee_from, sent_by = :sent_by, signer_at = :signer_at,
  txid = :txid, failure_reason = :failure_reason, sending = :sending, approved_at = :approved_at,
  finalized_at = :finalized_at
where seq = :seq and status = :before
