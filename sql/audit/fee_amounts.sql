-- Each fee with its sale, to compute the fee again.
select f.id, s.amount as sale, f.amount, f.fee_bps as rate from ledger f
join ledger s on s.kind = 'sale' and s.payment = f.payment
where f.kind = 'fee'
union all
select f.id, s.amount, f.amount, f.fee_bps from ledger f
join ledger s on s.kind = 'sale' and s.deposit = f.deposit
where f.kind = 'fee'
