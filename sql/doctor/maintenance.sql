select 'maintenance is on: live invoices and payouts are refused' as about, 'switch it off in the operator interface' as mend
from file where maintenance = 1
