-- of those that wait for a chain that lags the end of the wait, of the others the deadline
select min(due.at) as due_at from (
  select other.at from (
    select i.expires_at as at from invoices i
    where i.status in ('created', 'awaiting_payment') and (i.mode <> 'live' or not exists (
      select 1 from quotes q join json_each(:held) h on h.key = q.asset
      where q.invoice = i.seq and q.created_at < i.expires_at and h.value < i.expires_at))
    order by i.expires_at limit 1) other
  union all
  select held.at from (
    select i.expires_at + :wait_ms as at from invoices i
    where i.status in ('created', 'awaiting_payment') and i.mode = 'live' and exists (
      select 1 from quotes q join json_each(:held) h on h.key = q.asset
      where q.invoice = i.seq and q.created_at < i.expires_at and h.value < i.expires_at)
    order by i.expires_at limit 1) held
) due
