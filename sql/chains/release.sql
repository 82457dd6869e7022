delete from chains where mode = :mode and chain = :chain
