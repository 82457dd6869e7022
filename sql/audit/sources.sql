-- Rule 2: every entry refers to the row that it books.
select format('ledger %s', l.id) as about,
  format('%s of %d cents for %s %s', l.kind, l.amount, l.ref_type, ifnull(l.ref_id, 'nothing')) as found,
  case
    when l.kind in ('sale', 'fee') then 'for a payment of that invoice, or for that deposit'
    when l.kind = 'adjustment' then 'taking back an entry of that invoice or deposit, or the operator''s'
    else 'for that payout or refund'
  end as should
from ledger l
where case
  when l.ref_type = 'invoice' then not exists (select 1 from payments p join invoices i on i.seq = p.invoice
    where p.seq = l.payment and i.id = l.ref_id and i.account = l.account and i.mode = l.mode
      and i.currency = l.currency) or l.kind not in ('sale', 'fee', 'adjustment')
  when l.ref_type = 'deposit' then not exists (select 1 from deposits d
    where d.seq = l.deposit and d.id = l.ref_id and d.account = l.account and d.mode = l.mode)
    or l.currency <> 'EUR' or l.kind not in ('sale', 'fee', 'adjustment')
  when l.ref_type in ('payout', 'refund') then not exists (select 1 from transfers t
    where t.seq = l.transfer and t.id = l.ref_id and t.account = l.account and t.mode = l.mode
      and t.currency = l.currency and t.kind = l.ref_type)
    or l.kind not in (l.ref_type, l.ref_type || '_reversal')
  else l.kind <> 'adjustment' or l.payment is not null or l.deposit is not null or l.transfer is not null
end
