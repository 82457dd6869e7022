delete from attempts where rowid in (select rowid from attempts where at < :before order by at limit :limit)
