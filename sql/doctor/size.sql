-- Bytes in use, and bytes of pages that are used again. The number of events, the time of the first one, and the number of
-- those since :since. Events are numbered without gaps and never deleted.
select (p.page_count - f.freelist_count) * s.page_size as used_bytes, f.freelist_count * s.page_size as free_bytes,
  ifnull(e.newest, 0) as events, (select created_at from event_rows order by seq limit 1) as first_event_at,
  ifnull(e.newest, 0) - ifnull((select seq from event_rows where created_at < :since order by seq desc limit 1), 0)
    as recent_events
from pragma_page_count p, pragma_freelist_count f, pragma_page_size s, (select max(seq) as newest from event_rows) e
