-- Rule 4: the last event of an invoice has its status. Only awaiting_payment has no event.
select format('invoice %s', i.id) as about,
  format('%s, last told as %s', i.status, ifnull((select e.type from events e where e.object_id = i.id
    and e.account = i.account order by e.seq desc limit 1), 'nothing')) as found,
  iif(i.status = 'awaiting_payment', 'told as invoice.created at least', format('told as invoice.%s', i.status)) as should
from invoices i
where not exists (select 1 from events e where e.object_id = i.id and e.account = i.account
    and e.type = 'invoice.created')
  or (i.status <> 'awaiting_payment' and 'invoice.' || i.status is not (select e.type from events e
    where e.object_id = i.id and e.account = i.account order by e.seq desc limit 1))
