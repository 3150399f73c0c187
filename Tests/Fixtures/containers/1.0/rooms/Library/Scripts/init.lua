launches = 1
