-- a live invoice waits for the chains that it can be paid on, and no longer than a while past its deadline
select i.seq from invoices i
where i.status in ('created', 'awaiting_payment') and i.expires_at <= :now
  and (i.mode <> 'live' or i.expires_at <= :now - :wait_ms or not exists (
    select 1 from quotes q join json_each(:held) h on h.key = q.asset
    where q.invoice = i.seq and q.created_at < i.expires_at and h.value < i.expires_at))
order by i.expires_at limit :limit
