update invoices set status = :status, asset = :asset, rate = :rate, amount_expected = :amount_expected,
  amount_received = :amount_received, deposit_address = :deposit_address, picked_quote = :picked_quote, refunded = :refunded,
  confirmed_at = :confirmed_at, cancelled_at = :cancelled_at, waits_for = :waits_for
where seq = :seq
