-- rule 5: an address has one owner, and what was asked for or came is at an address of its own
select format('address %s', a.address), format('of %d owners', count(*)), 'of one owner'
from addresses a group by a.mode, a.pool, a.address having count(*) > 1
union all
select format('quote of invoice %s in %s', i.id, q.asset), format('at %s', q.address), 'at an address of that invoice'
from quotes q join invoices i on i.seq = q.invoice
where not exists (select 1 from addresses a where a.invoice = i.seq and a.mode = i.mode and a.address = q.address)
union all
select format('deposit %s', d.id), format('at %s', o.address), 'at an address of its customer'
from deposits d join observations o on o.seq = d.observation
where not exists (select 1 from addresses a where a.customer = d.customer and a.mode = d.mode
  and a.address = o.address)
union all
select format('address %s', p.address), format('in the pool as %s', p.state), 'assigned exactly where it has an owner'
from pool_addresses p
where p.state <> 'retired' and (p.state = 'assigned') <> exists (select 1 from addresses a
  where a.mode = 'live' and a.pool = p.pool and a.address = p.address)
