select u.seq, u.id, u.email, u.role, u.account, u.created_at, u.disabled_at, s.password_at
from sessions s join users u on u.seq = s.user
where s.hash = :hash and s.expires_at > :now and u.disabled_at is null
