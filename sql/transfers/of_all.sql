select t.*, a.id, i.id from transfers t join accounts a on a.seq = t.account left join invoices i on i.seq = t.invoice
where t.mode = :mode and t.kind = :kind and (:status is null or t.status = :status) order by t.seq desc limit :limit
