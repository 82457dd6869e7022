-- an answer that this delivery was given before is kept once: this attempt names the one that has it
insert into attempts (delivery, number, at, status, latency_ms, error, signatures, format, answer, answer_of)
select :delivery, :number, :at, :status, :latency_ms, :error, :signatures, :format, iif(same.number is null, :answer, null), same.number
from (select (select min(number) from attempts
  where delivery = :delivery and number < :number and answer = :answer and answer <> '') as number) same
