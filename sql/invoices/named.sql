-- those that a text names as a whole: by id, address or txid, each by its index
select * from invoices
where account = :account and mode = :mode and (:status is null or status = :status) and seq < :before
  and (:currency is null or currency = :currency)
  and (:from is null or created_at >= :from) and (:to is null or created_at < :to)
  and seq in (select seq from invoices where id = :text
    union select invoice from addresses
      where mode = :mode and pool in (select value from json_each(:pools)) and address = :text
    union select invoice from payments
      where mode = :mode and chain in (select value from json_each(:chains)) and txid = :text)
order by seq desc limit :limit
