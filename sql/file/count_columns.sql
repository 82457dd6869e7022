select count(*) from pragma_table_info('file') where name in ('kind', 'checkout_secret')
