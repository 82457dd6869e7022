insert into deliveries (id, event, endpoint, url, lane, state, attempts, next_attempt_at)
values (:id, :event, :endpoint, :url, :lane, 'pending', 0, :now)
