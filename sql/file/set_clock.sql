update file set clock_offset_ms = :offset_ms, clock_frozen_at = :frozen_at where id = 1
