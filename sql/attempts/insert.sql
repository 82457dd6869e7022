insert into attempts (delivery, number, at, status, latency_ms, error, answer)
values (:delivery, :number, :at, :status, :latency_ms, :error, :answer)
