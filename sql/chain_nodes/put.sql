insert into chain_nodes (chain, url, node, public_url, restored, changed_at, changed_by, is_missing)
select :chain, :url, :node, :public_url, restored, :now, :actor, 0 from file
where true
on conflict (chain) do update set url = excluded.url, node = excluded.node, public_url = excluded.public_url,
  restored = excluded.restored, changed_at = excluded.changed_at, changed_by = excluded.changed_by, is_missing = 0;
