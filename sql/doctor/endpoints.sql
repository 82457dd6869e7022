-- Endpoints whose last five attempts of the past day all failed.
with last as (
  select d.endpoint, t.status, row_number() over (partition by d.endpoint order by t.at desc) as number
  from attempts t join deliveries d on d.seq = t.delivery
  where d.endpoint is not null and t.at > :now - 86400000
)
select format('the endpoint %s of account %s has not taken a webhook in its last 5 attempts', p.url, a.id) as about,
  'see what it answers under deliveries in the operator interface, mend it, and send them again' as mend
from endpoints p join accounts a on a.seq = p.account
where p.removed_at is null and p.enabled
  and (select count(*) from last l where l.endpoint = p.seq and l.number <= 5) = 5
  and not exists (select 1 from last l where l.endpoint = p.seq and l.number <= 5 and l.status between 200 and 299)
