-- Inserts nothing if the URL or the queue has no row yet.
insert into delivery_rows (id, event, endpoint, url, queue, state, attempts, next_attempt_at)
select :id, :event, :endpoint, u.seq, q.seq, 'pending', 0, :now from webhook_urls u, webhook_queues q
where u.url = :url and q.name = :queue
