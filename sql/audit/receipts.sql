-- Rule 4: a receipt is of an invoice of its account, with an address, which no payment link takes.
select format('receipt of invoice %s', i.id) as about,
  iif(i.account <> r.account, 'of another account', 'without an address of the payer') as found,
  'of an invoice of its account, with an address' as should
from receipts r join invoices i on i.seq = r.invoice
where i.account <> r.account or i.customer_email is null or i.payment_link_id is not null
union all
select format('e-mail %s', m.id), format('%s for %s', m.kind, ifnull(m.account, 'the service')),
  'about an account, as every receipt is'
from mail_messages m where m.kind = 'receipt' and m.account is null
