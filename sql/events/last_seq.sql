select ifnull(max(seq), 0) from events
