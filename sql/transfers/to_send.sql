select t.*, a.id, i.id from transfers t join accounts a on a.seq = t.account left join invoices i on i.seq = t.invoice
where t.status = 'approved' and t.mode = 'live' and t.sending is null order by t.seq limit :limit
