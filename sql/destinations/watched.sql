select d.seq, d.mode, d.chain, d.address, d.is_overfull
from destinations d
where d.mode = :mode and d.chain = :chain and d.address = :address and exists (select 1 from transfers t
  where t.destination = d.seq and not t.is_frozen and (t.status in ('approved', 'processing') or t.sending = 'restored'
    or t.status = 'requested' and t.released_at is not null
    or t.approved_at is not null and t.finalized_at > :now - :after_ms))
