select event, rowid from deliveries where id = :id
