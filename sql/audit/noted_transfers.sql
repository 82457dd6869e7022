-- Each payout and refund with its requests and its approval in the audit log.
with noted as materialized (
  select object_id, count(*) filter (where action in ('payout.request', 'refund.request')) as requests,
    max(seq) filter (where action in ('payout.request', 'refund.request')) as request,
    max(seq) filter (where action in ('payout.approve', 'refund.approve')) as approval
  from audit_log
  where action in ('payout.request', 'refund.request', 'payout.approve', 'refund.approve') and object_id is not null
  group by object_id
)
select t.id, t.kind, t.account, t.currency, t.amount, t.asset, t.rate, t.network_fee, t.amount_crypto,
  ifnull(n.requests, 0) as requests, r.action as request_action, r.account as request_account,
  n.approval is not null as is_approved
from transfers t left join noted n on n.object_id = t.id left join audit_log r on r.seq = n.request
order by t.seq
