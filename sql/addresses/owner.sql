select invoice, customer from addresses where mode = :mode and pool = :pool and address = :address
