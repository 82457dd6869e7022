-- Rule 4: a paid or failed payout or refund has one event, and a deposit that was ever confirmed at least one.
select format('%s %s', t.kind, t.id) as about,
  format('%s, told %d times', t.status, (select count(*) from events e where e.object_id = t.id
    and e.type = t.kind || '.' || t.status)) as found,
  iif(t.status in ('paid', 'failed'), 'told once', 'not told') as should
from transfers t
where (select count(*) from events e where e.object_id = t.id and e.account = t.account)
    <> iif(t.status in ('paid', 'failed'), 1, 0)
  or (t.status in ('paid', 'failed') and not exists (select 1 from events e where e.object_id = t.id
    and e.type = t.kind || '.' || t.status))
union all
select format('deposit %s', d.id), 'confirmed once, never told', 'told as deposit.confirmed'
from deposits d
where d.was_confirmed and not exists (select 1 from events e where e.object_id = d.id and e.type = 'deposit.confirmed')
