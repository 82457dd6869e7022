select status, count(*) from transfers
where account = :account and mode = :mode and kind = :kind and status in ('requested', 'approved', 'processing')
group by status
