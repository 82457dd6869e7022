-- the pick of a quote, where only picks have happened since
delete from invoice_steps where invoice = :invoice and quote = :quote
  and seq > ifnull((select max(seq) from invoice_steps where invoice = :invoice and quote is null), 0)
