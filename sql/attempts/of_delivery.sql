select number, at, status, latency_ms, error, answer from attempts where delivery = :delivery order by number
