-- How many confirmations payments of a coin need, where the operator has said so; else the program does.
create table confirmation_tiers (
  asset         text    not null check (asset <> ''),
  -- for what is worth less than so many cents; null: for all the rest
  below         integer check (below > 0),
  -- null: the block has to be final
  confirmations integer check (confirmations > 0)
) strict;
create unique index confirmation_tiers_of_asset on confirmation_tiers (asset, ifnull(below, 0));
