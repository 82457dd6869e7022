-- Rule 2: a reversal refers to its entry, has the opposite amount, and is the only one of that entry.
select format('ledger %s', l.id) as about,
  format('%s of %d cents that takes back %s', l.kind, l.amount, ifnull(r.id, 'nothing')) as found,
  'naming one entry of the same payment, deposit, payout or refund, with the opposite amount' as should
from ledger l left join ledger r on r.seq = l.reverses
where (l.kind in ('payout_reversal', 'refund_reversal') or l.reverses is not null
    or (l.kind = 'adjustment' and l.ref_type <> 'admin'))
  and (r.seq is null or r.seq >= l.seq or r.amount <> -l.amount or r.account <> l.account or r.mode <> l.mode
    or r.currency <> l.currency
    or (ifnull(r.payment, 0), ifnull(r.deposit, 0), ifnull(r.transfer, 0))
      <> (ifnull(l.payment, 0), ifnull(l.deposit, 0), ifnull(l.transfer, 0))
    or exists (select 1 from ledger o where o.reverses = l.reverses and o.seq <> l.seq))
