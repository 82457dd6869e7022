update file set maintenance = :maintenance where id = 1
