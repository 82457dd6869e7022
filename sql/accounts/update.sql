update accounts set name = :name, status = :status, fee_bps = :fee_bps,
  settlement_enabled = :settlement_enabled, customers_enabled = :customers_enabled, payout_asset = :payout_asset,
  invoice_max = :invoice_max, payout_min = :payout_min, payout_daily_max = :payout_daily_max, under_bps = :under_bps,
  over_bps = :over_bps, ttl_seconds = :ttl_seconds, success_url = :success_url, cancel_url = :cancel_url,
  legacy_secret = :legacy_secret, branding_color = :branding_color, branding_logo_url = :branding_logo_url,
  checkout_lang = :checkout_lang, allowed_origins = :allowed_origins,
  server_quota = :server_quota, rate_spread_bps = :rate_spread_bps,
  signer_max = :signer_max, favorite_coins = :favorite_coins, address_lines = :address_lines
where seq = :seq
