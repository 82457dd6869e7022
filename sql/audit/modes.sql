-- Rule 5: no row of one mode or account refers to a row of another.
select format('payment %s', p.id) as about, o.mode as found, format('%s, the mode of its invoice, in a coin quoted for it, at its address or given to it by a person', i.mode) as should
from payments p join observations o on o.seq = p.observation join invoices i on i.seq = p.invoice join quotes q on q.seq = p.quote
where o.mode <> i.mode or q.invoice <> i.seq or q.asset <> o.asset or ((q.address <> o.address or q.given) and not exists (
  select 1 from audit_log g where g.account = i.account and g.action = 'unmatched_payment.assign' and g.object_id = p.id))
union all
select format('address %s', a.address), a.mode, 'the mode of its owner'
from addresses a left join invoices i on i.seq = a.invoice left join customers c on c.seq = a.customer
where a.mode <> coalesce(i.mode, c.mode)
union all
select format('deposit %s', d.id), d.mode, 'the account and mode of its customer, and the mode of what was seen'
from deposits d join customers c on c.seq = d.customer join observations o on o.seq = d.observation
where d.mode <> c.mode or d.account <> c.account or d.mode <> o.mode
union all
select format('refund %s', t.id), t.mode, 'the account, mode and currency of its invoice'
from transfers t join invoices i on i.seq = t.invoice
where t.mode <> i.mode or t.account <> i.account or t.currency <> i.currency
union all
select format('invoice %s', i.id), i.mode, 'the account and mode of its payment link'
from invoices i
where i.payment_link_id is not null and not exists (select 1 from payment_links l
  where l.id = i.payment_link_id and l.account = i.account and l.mode = i.mode)
