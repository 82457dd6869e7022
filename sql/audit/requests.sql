-- Rule 8: each request in the audit log is of an existing payout or refund.
select format('audit log entry %d', l.seq) as about, format('%s of %s', l.action, ifnull(l.object_id, 'nothing')) as found,
  'of a payout or refund of this file' as should
from audit_log l
where l.action in ('payout.request', 'refund.request')
  and not exists (select 1 from transfers t where t.id = l.object_id and t.kind = iif(l.action = 'payout.request', 'payout', 'refund'))
