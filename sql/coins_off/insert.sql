insert into coins_off (asset, since) values (:asset, :since) on conflict (asset) do nothing
