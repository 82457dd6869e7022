insert into chains (mode, chain, scanned_to) values (:mode, :chain, :scanned_to) on conflict (mode, chain) do nothing
