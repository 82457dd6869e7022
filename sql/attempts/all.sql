select delivery, at, status, latency_ms, error, answer from attempts order by delivery, number
