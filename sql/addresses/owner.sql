select invoice, pool from addresses where mode = :mode and address = :address
