insert into idempotency
  (account, mode, route, client_key, path_ids, request, outcome, answer, created_at)
values (:account, :mode, :route, :client_key, :path_ids, :request, :outcome, :answer, :created_at)
on conflict (coalesce(account, 0), mode, route, client_key) do update set
  path_ids = excluded.path_ids, request = excluded.request, outcome = excluded.outcome, answer = excluded.answer,
  created_at = excluded.created_at
