-- Rule 2: a payout or refund is booked once. It is reversed once if it was not sent, and otherwise never.
select format('%s %s', t.kind, t.id) as about,
  format('%s, with %d entries that took out %d cents and %d that put back %d', t.status,
    (select count(*) from ledger l where l.transfer = t.seq and l.kind = t.kind),
    (select ifnull(-sum(l.amount), 0) from ledger l where l.transfer = t.seq and l.kind = t.kind),
    (select count(*) from ledger l where l.transfer = t.seq and l.kind = t.kind || '_reversal'),
    (select ifnull(sum(l.amount), 0) from ledger l where l.transfer = t.seq and l.kind = t.kind || '_reversal')) as found,
  format('%d cents taken out once, %s', t.amount,
    iif(t.status in ('failed', 'rejected', 'cancelled'), 'and put back once', 'and not put back')) as should
from transfers t
where (select count(*) from ledger l where l.transfer = t.seq and l.kind = t.kind and l.amount = -t.amount) <> 1
  or (select count(*) from ledger l where l.transfer = t.seq)
    <> iif(t.status in ('failed', 'rejected', 'cancelled'), 2, 1)
