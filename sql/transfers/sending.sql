select t.*, a.id, i.id from transfers t join accounts a on a.seq = t.account left join invoices i on i.seq = t.invoice
where t.status = 'processing' and t.sending = 'running' order by t.seq
