-- Customers, payouts, refunds, deposits and unmatched payments that have the text as reference, id, address or txid, each
-- by an index. Addresses and txids are in the form of each chain.
select kind, id, status, customer
from (
  select 'customer' as kind, c.ref as id, null as status, c.ref as customer, c.created_at as at from customers c
    where c.account = :account and c.mode = :mode and c.ref = :text
  union select 'customer', c.ref, null, c.ref, c.created_at
    from json_each(:addresses) t join addresses a on a.pool = t.key and a.address = t.value
      join customers c on c.seq = a.customer
    where a.mode = :mode and c.account = :account
  union select t.kind, t.id, t.status, null, t.requested_at from transfers t
    where t.id = :text and t.account = :account and t.mode = :mode
  union select t.kind, t.id, t.status, null, t.requested_at
    from json_each(:txids) x join transfers t on t.chain = x.key and t.txid = x.value
    where t.account = :account and t.mode = :mode
  union select t.kind, t.id, t.status, null, t.requested_at
    from json_each(:addresses) x join transfers t on t.to_address = x.value
    where t.account = :account and t.mode = :mode
  union select 'deposit', d.id, iif(o.state = 'seen', 'detected', o.state), c.ref, d.created_at
    from deposits d join observations o on o.seq = d.observation join customers c on c.seq = d.customer
    where d.id = :text and d.account = :account and d.mode = :mode
  union select 'deposit', d.id, iif(o.state = 'seen', 'detected', o.state), c.ref, d.created_at
    from json_each(:txids) x join observations o on o.chain = x.key and o.txid = x.value
      join deposits d on d.observation = o.seq join customers c on c.seq = d.customer
    where d.account = :account and d.mode = :mode
  union select 'unmatched_payment', u.id, coalesce(u.outcome, 'open'), null, o.seen_at
    from json_each(:txids) x join observations o on o.chain = x.key and o.txid = x.value
      join unmatched_payments u on u.observation = o.seq
    where :with_unmatched
  union select 'unmatched_payment', u.id, 'open', null, o.seen_at
    from unmatched_payments u join observations o on o.seq = u.observation
    where :with_unmatched and u.resolved_at is null and o.address in (select value from json_each(:addresses))
)
order by at desc limit :limit
