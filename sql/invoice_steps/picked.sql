insert into invoice_steps (invoice, at, quote) values (:invoice, :at, :quote)
