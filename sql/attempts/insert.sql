-- A response is not stored again if a recent attempt of this delivery got the same. The new attempt refers to that one.
insert into attempts (delivery, number, at, status, latency_ms, error, signatures, format, answer, answer_of)
select :delivery, :number, :at, :status, :latency_ms, :error, :signatures, :format, iif(same.number is null, :answer, null), same.number
from (select (select min(number) from attempts
  where delivery = :delivery and number between :compared_from and :number - 1 and answer = :answer and answer <> '') as number) same
