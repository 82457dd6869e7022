-- what a payment booked and nothing has taken back
select l.seq, l.amount from ledger l
where l.payment = :payment and not exists (select 1 from ledger r where r.reverses = l.seq) order by l.seq
