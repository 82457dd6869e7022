-- Rule 2: an output counts for a transfer only if destination and coin are the same.
select format('observation %d of %s', o.seq, o.txid) as about,
  format('counted for %s %s', t.kind, t.id) as found,
  'counted for a transfer of its destination and coin' as should
from destination_outputs p join observations o on o.seq = p.observation join transfers t on t.seq in (p.transfer, p.settled)
where t.destination <> p.destination or t.asset <> o.asset
union all
select format('observation %d of %s', o.seq, o.txid), format('at destination %d', d.seq), 'at the destination that it pays'
from destination_outputs p join observations o on o.seq = p.observation join destinations d on d.seq = p.destination
where d.mode <> o.mode or d.chain <> o.chain or d.address <> o.address
union all
select format('%s %s', t.kind, t.id), format('at destination %d', t.destination), 'at the destination of its address'
from transfers t join destinations d on d.seq = t.destination
where d.mode <> t.mode or d.chain <> t.chain or d.address <> t.to_address
