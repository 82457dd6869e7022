select address, changed_at from payout_addresses where account = :account and chain = :chain
