insert into idempotency (account, mode, route, client_key, request, outcome, answer, created_at)
values (:account, :mode, :route, :client_key, :request, :outcome, :answer, :created_at)
on conflict (account, mode, route, client_key) do update set
  request = excluded.request, outcome = excluded.outcome, answer = excluded.answer, created_at = excluded.created_at
