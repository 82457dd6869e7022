delete from idempotency
where rowid in (select rowid from idempotency where created_at <= :before order by created_at limit :limit)
