insert into wallets (mode, pool, network, next_index) values (:mode, :pool, 'simulated', 1)
on conflict (mode, pool) where network = 'simulated' do update set next_index = next_index + 1
returning seq, next_index - 1
