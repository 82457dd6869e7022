-- txids and addresses only as a whole, by their indexes; the rest wherever the text stands in it
select * from invoices
where account = :account and mode = :mode and status = :status and seq < :before
  and (:currency is null or currency = :currency)
  and (:from is null or created_at >= :from) and (:to is null or created_at < :to)
  and (:text is null or id like :like escape '\' or order_id like :like escape '\' or description like :like escape '\'
    or customer_email like :like escape '\'
    or seq in (select invoice from addresses
      where mode = :mode and pool in (select value from json_each(:pools)) and address = :text)
    or seq in (select invoice from payments
      where mode = :mode and chain in (select value from json_each(:chains)) and txid = :text))
order by seq desc limit :limit
