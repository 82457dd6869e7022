-- Rule 3: refundedAmount is the sum of the refunds that were not reversed, and at most the confirmed amount.
with given as (
  select i.seq, (select sum(t.amount) from transfers t where t.invoice = i.seq and t.kind = 'refund'
      and t.status not in ('failed', 'rejected', 'cancelled')) as amount
  from invoices i
  where i.refunded is not null or exists (select 1 from transfers t where t.invoice = i.seq)
)
select format('invoice %s', i.id) as about, format('refunded %s', ifnull(i.refunded, 'null')) as found,
  format('%s cents, the sum of its refunds, and not above what was ever confirmed (%d)', ifnull(g.amount, 'null'),
    (select ifnull(sum(p.value), 0) from payments p where p.invoice = i.seq and p.was_confirmed)) as should
from given g join invoices i on i.seq = g.seq
where i.refunded is not g.amount
  or ifnull(g.amount, 0) > (select ifnull(sum(p.value), 0) from payments p where p.invoice = i.seq and p.was_confirmed)
