-- Nodes that operators entered, one for each chain. A row stays after the removal, so that every operator is told.
create table chain_nodes (
  chain      text    primary key,
  -- the url with its login; null once it was removed
  url        text,
  -- scheme, host and port of the url
  node       text    not null,
  -- public url of the server at which it was entered
  public_url text    not null,
  -- file.restored at that time
  restored   integer not null,
  changed_at integer not null,
  changed_by text    not null,
  -- 1 if a restore removed the url, until another is entered
  is_missing integer not null check (is_missing in (0, 1)),
  check (is_missing = 0 or url is null)
) strict, without rowid;
