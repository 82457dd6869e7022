insert into chain_cursors (chain, network, height, hash, time, complete_height, complete_hash, head_height, head_time,
  stepped_at, stopped)
values (:chain, :network, :height, :hash, :time, :complete_height, :complete_hash, :head_height, :head_time, :stepped_at,
  :stopped)
on conflict (chain) do update set height = excluded.height, hash = excluded.hash, time = excluded.time,
  complete_height = excluded.complete_height, complete_hash = excluded.complete_hash, head_height = excluded.head_height,
  head_time = excluded.head_time, stepped_at = excluded.stepped_at, stopped = excluded.stopped
where network = excluded.network
