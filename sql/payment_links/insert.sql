insert into payment_links (id, account, mode, name, amount, currency, description, active, created_at)
values (:id, :account, :mode, :name, :amount, :currency, :description, :active, :created_at)
