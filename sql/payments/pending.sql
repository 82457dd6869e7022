select i.currency, p.value from payments p join invoices i on i.seq = p.invoice
where p.state = 'seen' and i.account = :account and i.mode = :mode and i.status = 'detected'
