-- Each payout and refund with its newest request, approval and payment in the audit log.
with noted as materialized (
  select object_id, count(*) filter (where action like '%.request') as requests,
    max(seq) filter (where action like '%.request') as request, max(seq) filter (where action like '%.approve') as approval,
    max(seq) filter (where action like '%.pay') as payment
  from audit_log
  where action in ('payout.request', 'refund.request', 'payout.approve', 'refund.approve', 'payout.pay', 'refund.pay')
    and object_id is not null
  group by object_id
)
select t.id, t.kind, t.account, t.currency, t.amount, t.asset, t.to_address, t.rate, t.network_fee, t.amount_crypto,
  ifnull(n.requests, 0) as requests, r.action as request_action, r.account as request_account, r.detail as request,
  a.detail as approval, t.settled_by, p.detail as payment
from transfers t left join noted n on n.object_id = t.id
  left join audit_log r on r.seq = n.request left join audit_log a on a.seq = n.approval
  left join audit_log p on p.seq = n.payment
order by t.seq
