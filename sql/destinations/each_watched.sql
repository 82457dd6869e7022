select d.address from destinations d
where d.mode = 'live' and d.chain = :chain and exists (select 1 from transfers t
  where t.destination = d.seq and not t.is_frozen and (t.status in ('approved', 'processing') or t.sending = 'restored'
    or t.status = 'requested' and t.released_at is not null
    or t.approved_at is not null and t.finalized_at > (select last_tick_at from file) - :after_ms))
