select count(*) from pragma_foreign_key_list(:table)
