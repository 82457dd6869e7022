insert into quotes (invoice, asset, rate, amount_expected, address, created_at)
values (:invoice, :asset, :rate, :amount_expected, :address, :created_at)
