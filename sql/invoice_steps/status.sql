insert into invoice_steps (invoice, at, status) values (:invoice, :at, :status)
