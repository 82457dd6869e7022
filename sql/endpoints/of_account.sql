select seq, id, mode, url, secret, format, types, enabled from endpoints
where account = :account and removed_at is null order by seq
