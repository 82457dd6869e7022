-- how far down one search looks: by the index alone
select seq, id from invoices where account = :account and mode = :mode and seq < :before
order by seq desc limit 1 offset :skipped
