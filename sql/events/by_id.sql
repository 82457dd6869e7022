select body from events where id = :id and account = :account and mode = :mode
