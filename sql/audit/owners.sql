-- Rule 5: an observation has exactly one owner, and a confirmed one was booked as confirmed.
with owned as (
  select observation from payments union all select observation from deposits
  union all select observation from unmatched_payments where outcome is not 'assigned' union all select observation from own_transfers
  union all select observation from destination_outputs
)
select format('observation %d of %s', o.seq, o.txid) as about, format('of %d owners', count(w.observation)) as found, 'of one owner' as should
from observations o left join owned w on w.observation = o.seq
group by o.seq having count(w.observation) <> 1
union all
select format('payment %s', p.id), 'confirmed, and never was', 'noted as once confirmed'
from payments p join observations o on o.seq = p.observation where o.state = 'confirmed' and not p.was_confirmed
union all
select format('deposit %s', d.id), 'confirmed, and never was', 'noted as once confirmed'
from deposits d join observations o on o.seq = d.observation where o.state = 'confirmed' and not d.was_confirmed
