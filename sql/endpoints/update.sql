update endpoints set mode = :mode, url = :url, format = :format, types = :types, enabled = :enabled
where seq = :seq and removed_at is null
