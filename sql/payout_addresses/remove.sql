delete from payout_addresses where account = :account and chain = :chain
