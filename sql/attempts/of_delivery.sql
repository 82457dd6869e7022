select a.number, a.at, a.status, a.latency_ms, a.error, ifnull(a.answer, same.answer)
from attempts a left join attempts same on same.delivery = a.delivery and same.number = a.answer_of
where a.delivery = :delivery order by a.number
