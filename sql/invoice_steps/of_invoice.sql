select at, quote, payment, state, status from invoice_steps where invoice = :invoice order by seq
