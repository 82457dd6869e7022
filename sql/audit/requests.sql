-- rule 8: each request of the audit log is of a payout or refund that is there
select format('audit log entry %d', l.seq) as about, format('%s of %s', l.action, ifnull(l.object_id, 'nothing')) as found,
  'of a payout or refund of this file' as should
from audit_log l
where l.action in ('payout.request', 'refund.request')
  and not exists (select 1 from transfers t where t.id = l.object_id and l.action = t.kind || '.request')
