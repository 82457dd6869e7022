insert into mail_alarms (name, kind, account, about, since, is_on, is_told, told_at, told_count)
values (:name, :kind, :account, :about, :since, :is_on, :is_told, :told_at, :told_count)
on conflict (name) do update set about = excluded.about, since = excluded.since, is_on = excluded.is_on,
  is_told = excluded.is_told, told_at = excluded.told_at, told_count = excluded.told_count
