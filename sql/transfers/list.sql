select t.*, a.id, i.id from transfers t join accounts a on a.seq = t.account left join invoices i on i.seq = t.invoice
where t.account = :account and t.mode = :mode and t.kind = :kind order by t.seq desc limit :limit
