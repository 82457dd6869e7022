-- Each set of chains that open invoices wait for. Each step looks up the next set in the index.
with recursive sets (waits_for) as (
  select min(waits_for) from invoices where status in ('created', 'awaiting_payment')
  union all
  select (select min(i.waits_for) from invoices i
    where i.status in ('created', 'awaiting_payment') and i.waits_for > sets.waits_for)
  from sets where sets.waits_for is not null
)
select waits_for from sets where waits_for is not null
