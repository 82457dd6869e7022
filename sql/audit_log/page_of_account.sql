select l.seq, l.at, l.actor, l.action, a.id, l.object_id, l.detail
from audit_log l join accounts a on a.seq = l.account
where l.account = :account and l.seq < :before order by l.seq desc limit :limit
