-- Rule 5: an address has one owner, and every quote and payment is at an address of its owner.
select format('address %s', a.address) as about, format('of %d owners', count(*)) as found, 'of one owner' as should
from addresses a group by a.mode, a.pool, a.address having count(*) > 1
union all
select format('quote of invoice %s in %s', i.id, q.asset), format('%sat %s', iif(q.given, 'given, ', ''), q.address),
  iif(q.given, 'at an address of another''s, of what a person has given to it', 'at an address of that invoice')
from quotes q join invoices i on i.seq = q.invoice
where q.given = exists (select 1 from addresses a where a.invoice = i.seq and a.mode = i.mode and a.address = q.address)
  or q.given and not exists (select 1 from payments p where p.invoice = q.invoice and p.quote = q.seq)
union all
select format('deposit %s', d.id), format('at %s', o.address), 'at an address of its customer, or given to it by a person'
from deposits d join observations o on o.seq = d.observation
where not exists (select 1 from addresses a where a.customer = d.customer and a.mode = d.mode and a.address = o.address)
  and not exists (select 1 from audit_log g where g.account = d.account and g.action = 'unmatched_payment.assign'
    and g.object_id = d.id)
union all
select format('address %s', p.address), format('in the pool as %s', p.state), 'assigned exactly where it has an owner'
from pool_addresses p
where p.state <> 'retired' and (p.state = 'assigned') <> exists (select 1 from addresses a
  where a.mode = 'live' and a.pool = p.pool and a.address = p.address)
union all
select format('address %s', a.address), format('index %d of wallet %d', a.wallet_index, a.wallet),
  format('an index below %d that its pool''s wallet handed out', w.next_index)
from addresses a join wallets w on w.seq = a.wallet
where a.wallet_index >= w.next_index or a.mode <> w.mode or a.pool <> w.pool
union all
select format('address %s', a.address), 'of no wallet', 'derived by a wallet, or imported'
from addresses a
where a.wallet is null and (a.mode <> 'live' or not exists (select 1 from pool_addresses p
  where p.pool = a.pool and p.address = a.address))
