-- each may have been sent since
update transfers set sending = 'unknown' where status in ('requested', 'approved', 'processing')
