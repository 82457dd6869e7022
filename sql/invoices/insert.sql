insert into invoices (id, account, mode, order_id, status, amount, currency, description, asset, rate, amount_expected,
  deposit_address, picked_quote, redirect_url, cancel_url, webhook_url, metadata, customer_email, payment_link_id,
  under_bps, over_bps, created_at, expires_at, waits_for)
values (:id, :account, :mode, :order_id, :status, :amount, :currency, :description, :asset, :rate, :amount_expected,
  :deposit_address, :picked_quote, :redirect_url, :cancel_url, :webhook_url, :metadata, :customer_email,
  :payment_link_id, :under_bps, :over_bps, :created_at, :expires_at, :waits_for)
on conflict (account, mode, order_id) where order_id is not null do nothing
