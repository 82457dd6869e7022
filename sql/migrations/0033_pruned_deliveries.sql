-- A delivered delivery is deleted with its last attempt. So that the audit does not miss it, the newest such event is kept
-- for each endpoint.
create table pruned_deliveries (
  -- 0: the invoices' own webhookUrls
  endpoint integer primary key,
  event    integer not null references event_rows (seq)
) strict;

-- Delivered deliveries whose attempts were deleted before this version.
insert into pruned_deliveries (endpoint, event)
select ifnull(d.endpoint, 0), max(d.event) from delivery_rows d
where d.state = 'delivered' and not exists (select 1 from attempt_rows a where a.delivery = d.seq)
group by ifnull(d.endpoint, 0);
delete from delivery_rows
where state = 'delivered' and not exists (select 1 from attempt_rows a where a.delivery = delivery_rows.seq);
