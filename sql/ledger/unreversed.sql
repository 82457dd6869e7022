-- Entries of a payment, deposit or transfer that were not reversed. Two of the three parameters are null.
select l.seq, l.amount from ledger l
where l.payment = :payment and not exists (select 1 from ledger r where r.reverses = l.seq)
union all
select l.seq, l.amount from ledger l
where l.deposit = :deposit and not exists (select 1 from ledger r where r.reverses = l.seq)
union all
select l.seq, l.amount from ledger l
where l.transfer = :transfer and not exists (select 1 from ledger r where r.reverses = l.seq)
order by seq
