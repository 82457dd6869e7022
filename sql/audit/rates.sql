-- Rule 2: simulated payments have the fixed rates, and real ones never have. A payment in time has the rate of its
-- quote.
with priced as (
  select format('quote %d of invoice %s', q.seq, i.id) as about, i.mode, q.rate_source
  from quotes q join invoices i on i.seq = q.invoice
  union all
  select format('payment %s', p.id), i.mode, p.rate_source from payments p join invoices i on i.seq = p.invoice
  union all
  select format('deposit %s', d.id), d.mode, d.rate_source from deposits d
)
select p.about, format('priced by %s', p.rate_source) as found,
  iif(p.rate_source = 'fixed', 'priced by what tells of real money', 'priced by the fixed table') as should
from priced p join file f on f.id = 1
where (p.mode = 'test' or f.kind = 'sandbox') <> (p.rate_source = 'fixed')
union all
select format('payment %s', p.id), format('in time, at %s by %s', p.rate, p.rate_source),
  format('at %s by %s, the rate of its quote', q.rate, q.rate_source)
from payments p join quotes q on q.seq = p.quote
where p.on_time and (p.rate, p.rate_source, p.rate_at) <> (q.rate, q.rate_source, q.rate_at)
