-- Rule 2: an output counts for a transfer only if destination and coin are the same and its transaction is attached.
select format('observation %d of %s', o.seq, o.txid) as about,
  format('counted for %s %s', t.kind, t.id) as found,
  'counted for a transfer of its destination, coin and transaction' as should
from sent_outputs s join observations o on o.seq = s.observation join transfers t on t.seq = s.transfer
where t.to_address <> o.address or t.asset <> o.asset or t.mode <> o.mode or t.txid is not o.txid
