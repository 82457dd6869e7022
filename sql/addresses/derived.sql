update addresses set wallet = :wallet, wallet_index = :index, script = :script
where mode = :mode and pool = :pool and address = :address
