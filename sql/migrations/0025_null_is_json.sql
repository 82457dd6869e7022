-- json_valid(null) is null since SQLite 3.45, which a CHECK accepts, and 0 before, which it refuses: an older sqlite3
-- would find these rows wrong and leave them out of a copy. No row has to be looked at
-- (<https://sqlite.org/lang_altertable.html>, the shorter procedure of section 7).
pragma writable_schema = on;

update sqlite_schema set sql = replace(sql, 'check (json_valid(invoice))', 'check (invoice is null or json_valid(invoice))')
where type = 'table' and name = 'events';
update sqlite_schema set sql = replace(sql, 'check (json_valid(spends))', 'check (spends is null or json_valid(spends))')
where type = 'table' and name = 'observations';

pragma writable_schema = reset;
