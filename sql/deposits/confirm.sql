update deposits set was_confirmed = 1, rate = :rate, gross = :gross, fee = :fee
where seq = :seq and was_confirmed = 0
