select seq from ledger where id = :id and account = :account and mode = :mode
