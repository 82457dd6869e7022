-- Rule 4: the body of an event agrees with its row, and its object exists, in the same account and mode.
select format('event %s', e.id) as about, iif(json_valid(e.body), 'a body of something else', 'a body that is no JSON') as found,
  format('the event %s of the %s object %s of the same account', e.type, e.mode, e.object_id) as should
from events e
where not json_valid(e.body)
  or json_extract(e.body, '$.id') is not e.id
  or json_extract(e.body, '$.object') is not 'event'
  or json_extract(e.body, '$.type') is not e.type
  or json_extract(e.body, '$.livemode') is not (e.mode = 'live')
  or json_extract(e.body, '$.data.object.id') is not e.object_id
  or not case
    when e.type like 'invoice.%' then exists (select 1 from invoices o
      where o.id = e.object_id and o.account = e.account and o.mode = e.mode)
    when e.type like 'deposit.%' then exists (select 1 from deposits o
      where o.id = e.object_id and o.account = e.account and o.mode = e.mode)
    when e.type like 'account.%' then exists (select 1 from accounts o where o.id = e.object_id and o.seq = e.account)
    else exists (select 1 from transfers o where o.id = e.object_id and o.account = e.account and o.mode = e.mode
      and e.type like o.kind || '.%')
  end
