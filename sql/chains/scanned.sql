select chain, scanned_to from chains where mode = :mode
