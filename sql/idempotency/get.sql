select request, outcome, answer from idempotency
where account = :account and mode = :mode and route = :route and client_key = :client_key and created_at > :after
