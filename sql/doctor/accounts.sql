select 'there is no account' as about, '`coffer account create NAME`, then `coffer account approve ACCOUNT`' as mend
where not exists (select 1 from accounts)
union all
select format('account %s (%s) waits for approval', id, name), format('`coffer account approve %s`, or reject it', id)
from accounts where status = 'pending'
