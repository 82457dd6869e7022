insert into accounts (id, name, status, fee_bps, settlement_enabled, customers_enabled, payout_asset,
  invoice_max, payout_min, payout_daily_max, under_bps, over_bps, ttl_seconds, success_url, cancel_url, legacy_secret,
  created_at, branding_color, branding_logo_url, checkout_lang, allowed_origins,
  server_quota, rate_spread_bps, signer_max)
values (:id, :name, :status, :fee_bps, :settlement_enabled, :customers_enabled, :payout_asset, :invoice_max,
  :payout_min, :payout_daily_max, :under_bps, :over_bps, :ttl_seconds, :success_url, :cancel_url, :legacy_secret,
  :created_at, :branding_color, :branding_logo_url, :checkout_lang, :allowed_origins,
  :server_quota, :rate_spread_bps, :signer_max)
