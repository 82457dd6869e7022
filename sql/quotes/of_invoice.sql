select seq, asset, rate, amount_expected, address, created_at from quotes
where invoice = :invoice order by seq
