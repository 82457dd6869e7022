-- among the invoices from :floor on; the text wherever it stands
select * from invoices
where account = :account and mode = :mode and seq < :before and seq >= :floor
  and (:currency is null or currency = :currency)
  and (:from is null or created_at >= :from) and (:to is null or created_at < :to)
  and (:like is null or id like :like escape '\' or order_id like :like escape '\' or description like :like escape '\'
    or customer_email like :like escape '\')
order by seq desc limit :limit
