select d.seq, d.mode, d.chain, d.address, d.is_overfull
from destinations d
where d.seq in (select t.destination from transfers t indexed by transfers_ended
  where t.chain = :chain and t.finalized_at is not null and not t.is_frozen and t.mode = 'live'
    and (t.finalized_at < :now - :after_ms or t.status = 'paid' and exists (select 1
      from destination_outputs p join observations o on o.seq = p.observation
      where p.settled = t.seq and o.block_height <= :last))
    and not exists (select 1 from transfer_reviews r where r.transfer = t.seq and r.ended_at is null)
  limit :limit)
