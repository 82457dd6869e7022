-- A response is not stored again if a recent attempt of this delivery got the same. The new attempt refers to that one.
insert into attempt_rows (delivery, number, at, status, latency_ms, error, signatures, format, answer, answer_of)
select d.seq, :number, :at, :status, :latency_ms, :error, :signatures, :format, iif(same.number is null, :answer, null),
  same.number
from delivery_rows d left join attempt_rows same on same.delivery = d.seq and same.number = (
  select min(number) from attempt_rows
  where delivery = d.seq and number between :compared_from and :number - 1 and answer = :answer and answer <> '')
where d.id = :delivery
