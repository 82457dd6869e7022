-- The newest invoice that one piece of an export with a text reads: the last of :count invoices after :after, or an older
-- one if the metadata of the invoices up to it reaches :bytes.
select seq
from (
  select seq, row_number() over oldest_first as number, sum(bytes) over oldest_first as bytes
  from (
    select seq, octet_length(metadata) as bytes from invoices
    where account = :account and mode = :mode and seq > :after order by seq limit :count
  )
  window oldest_first as (order by seq)
)
where number = :count or bytes >= :bytes order by seq limit 1
