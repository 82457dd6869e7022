-- what a payment, a deposit or a transfer booked and nothing has taken back; two of the three are null
select l.seq, l.amount from ledger l
where l.payment = :payment and not exists (select 1 from ledger r where r.reverses = l.seq)
union all
select l.seq, l.amount from ledger l
where l.deposit = :deposit and not exists (select 1 from ledger r where r.reverses = l.seq)
union all
select l.seq, l.amount from ledger l
where l.transfer = :transfer and not exists (select 1 from ledger r where r.reverses = l.seq)
order by seq
