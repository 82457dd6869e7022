-- Each sale with its fee and the fee rate at its booking.
select s.id, s.amount as sale, ifnull(f.amount, 0) as fee, s.sale_fee_bps as rate, f.fee_bps as fee_rate
from ledger s left join ledger f on f.kind = 'fee' and f.payment = s.payment
where s.kind = 'sale' and s.payment is not null
union all
select s.id, s.amount, ifnull(f.amount, 0), s.sale_fee_bps, f.fee_bps
from ledger s left join ledger f on f.kind = 'fee' and f.deposit = s.deposit
where s.kind = 'sale' and s.deposit is not null
