-- Sales by day, in UTC.
select currency, hour / 24 as day, sum(count) as count, sum(amount) as amount from sales_by_hour
where account = :account and mode = :mode and hour >= :since / 3600000
group by currency, day
