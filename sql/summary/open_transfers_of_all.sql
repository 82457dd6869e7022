select status, count(*) from transfers
where mode = :mode and kind = :kind and status in ('requested', 'approved', 'processing')
group by status
