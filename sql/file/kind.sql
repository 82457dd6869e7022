select kind from file where id = 1
