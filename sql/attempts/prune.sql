-- one whose answer a younger attempt shares goes with that
delete from attempts where rowid in (select a.rowid from attempts a where a.at < :before
  and not exists (select 1 from attempts b where b.delivery = a.delivery and b.answer_of = a.number and b.at >= :before)
  order by a.at limit :limit)
