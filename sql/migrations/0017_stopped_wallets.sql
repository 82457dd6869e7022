-- Something came to an index of a wallet that this file had not handed out yet: the file is older than the wallet, or the
-- wallet's key is used elsewhere, too. It hands out nothing more until it is added again, to begin behind that index.
alter table wallets add column stopped_at integer;
-- the highest such index
alter table wallets add column stopped_index integer check (
  (stopped_index is null) = (stopped_at is null)
  and (stopped_index is null or (stopped_index between 0 and 2147483647 and id is not null)));
