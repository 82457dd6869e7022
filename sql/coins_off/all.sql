select asset, since from coins_off order by asset
