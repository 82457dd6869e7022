update transfers set status = :status, amount_crypto = :amount_crypto, network_fee = :network_fee, rate = :rate,
  rate_basis = :rate_basis, network_fee_from = :network_fee_from, has_accepted_terms = :has_accepted_terms, sent_by = :sent_by,
  signer_at = :signer_at, signer_amount = :signer_amount,
  txid = :txid, failure_reason = :failure_reason, sending = :sending, approved_at = :approved_at,
  finalized_at = :finalized_at, txid_from = :txid_from, handed_over_at = :handed_over_at,
  sending_reason = :sending_reason, retry_since = :retry_since, retry_at = :retry_at, settled_by = :settled_by,
  settled_reason = :settled_reason, watched_from = :watched_from, approved_height = :approved_height, has_unread_blocks = :has_unread_blocks,
  has_exact_proposal = :has_exact_proposal, released_at = :released_at
where seq = :seq and status = :before
