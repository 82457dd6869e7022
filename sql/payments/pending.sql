select i.currency, p.value
from invoices i join payments p on p.invoice = i.seq join observations o on o.seq = p.observation
where o.state = 'seen' and i.account = :account and i.mode = :mode and i.status = 'detected'
