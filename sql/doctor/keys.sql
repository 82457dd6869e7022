select format('account %s (%s) has no secret key', a.id, a.name) as about, format('`coffer key create %s --mode live`', a.id) as mend
from accounts a
where a.status = 'active' and not exists (select 1 from keys k where k.account = a.seq
  and k.class in ('secret', 'legacy') and k.revoked_at is null and ifnull(k.expires_at, :now + 1) > :now)
