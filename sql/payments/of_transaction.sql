select * from payments where mode = :mode and chain = :chain and txid = :txid
order by position
