select type, name, tbl_name, ifnull(sql, ''), rootpage <> 0 from sqlite_schema
