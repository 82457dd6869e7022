select seq, asset, rate, rate_source, rate_at, amount_expected, address, created_at from quotes
where invoice = :invoice order by seq
