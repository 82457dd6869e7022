delete from coins_off where asset = :asset
