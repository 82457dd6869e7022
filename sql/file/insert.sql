insert into file (id, kind, checkout_secret) values (1, :kind, :checkout_secret)
