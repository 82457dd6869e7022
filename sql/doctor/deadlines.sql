select format('%d invoices should have expired more than an hour ago', count(*)),
  'is `coffer serve` running on this file? its log says what holds it up'
from invoices where status in ('created', 'awaiting_payment') and expires_at < :now - 3600000
having count(*) > 0
