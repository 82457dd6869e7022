select 'maintenance is on: live invoices and payouts are refused', 'switch it off in the operator interface'
from file where maintenance = 1
