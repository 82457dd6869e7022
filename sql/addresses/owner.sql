select invoice, customer from addresses where mode = :mode and address = :address
