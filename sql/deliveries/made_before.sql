select made_before from deliveries where id = :id
