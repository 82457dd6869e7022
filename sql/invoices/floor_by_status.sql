-- The oldest invoice that a search reads: the last of :count invoices before :before, or a newer one if the metadata
-- of the invoices up to it reaches :bytes.
select seq, id
from (
  select seq, id, row_number() over newest_first as number, sum(bytes) over newest_first as bytes
  from (
    select seq, id, octet_length(metadata) as bytes from invoices
    where account = :account and mode = :mode and status = :status and seq < :before order by seq desc limit :count
  )
  window newest_first as (order by seq desc)
)
where number = :count or bytes >= :bytes order by seq desc limit 1
