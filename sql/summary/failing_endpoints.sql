-- An endpoint fails if events after its last delivered one were tried and not delivered. The delivery of that one may
-- have been deleted.
with tried as (
  select p.seq as endpoint, t.at, t.status, t.error, min(t.at) over (partition by p.seq) as since,
    count(*) over (partition by p.seq) as number,
    row_number() over (partition by p.seq order by t.at desc, d.event desc) as place
  from endpoints p left join pruned_deliveries g on g.endpoint = p.seq join deliveries d on d.endpoint = p.seq
    join attempts t on t.delivery = d.seq and t.number > d.made_before
  where p.account = :account and p.removed_at is null and p.enabled and (p.mode is null or p.mode = :mode)
    and d.event > ifnull((select l.event from deliveries l
      where l.endpoint = p.seq and l.state = 'delivered' and l.event > ifnull(g.event, 0)
      order by l.event desc limit 1), ifnull(g.event, 0))
)
select p.id, p.url, tried.since as failing_since, tried.number as failed_attempts, tried.at as last_attempt_at,
  tried.status as last_status, tried.error as last_error
from tried join endpoints p on p.seq = tried.endpoint
where tried.place = 1 order by p.seq
