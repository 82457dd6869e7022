insert into payout_addresses (account, chain, address, changed_at)
values (:account, :chain, :address, :changed_at)
on conflict (account, chain) do update set address = excluded.address, changed_at = excluded.changed_at
