-- Endpoints with an attempt before :before at an event after their last delivered one, by the rule of
-- summary/failing_endpoints.sql.
select p.id, p.url, p.account from endpoints p left join pruned_deliveries g on g.endpoint = p.seq
where p.removed_at is null and p.enabled and (p.mode is null or p.mode = :mode)
  and exists (select 1 from deliveries d join attempts t on t.delivery = d.seq and t.number > d.made_before
    where d.endpoint = p.seq and t.at <= :before and d.event > ifnull((select l.event from deliveries l
      where l.endpoint = p.seq and l.state = 'delivered' and l.event > ifnull(g.event, 0)
      order by l.event desc limit 1), ifnull(g.event, 0)))
order by p.seq
