insert into invoice_steps (invoice, at, payment, state)
select invoice, :at, seq, :state from payments where seq = :payment
