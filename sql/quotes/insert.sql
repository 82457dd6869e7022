insert into quotes (invoice, asset, rate, rate_source, rate_at, amount_expected, address, created_at)
values (:invoice, :asset, :rate, :rate_source, :rate_at, :amount_expected, :address, :created_at)
