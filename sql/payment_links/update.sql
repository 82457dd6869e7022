update payment_links set name = :name, amount = :amount, description = :description, active = :active
where seq = :seq
