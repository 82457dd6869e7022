-- those that a text names as a whole: by id, address or txid, each by its index
select * from invoices
where account = :account and mode = :mode and (:status is null or status = :status) and seq < :before
  and (:currency is null or currency = :currency)
  and (:from is null or created_at >= :from) and (:to is null or created_at < :to)
  and seq in (select seq from invoices where id = :text
    union select invoice from addresses
      where mode = :mode and pool in (select value from json_each(:pools)) and address = :text
    union select p.invoice from observations o join payments p on p.observation = o.seq
      where o.mode = :mode and o.chain in (select value from json_each(:chains)) and o.txid = :text)
order by seq desc limit :limit
