-- The hash chain over the ledger and the audit log: SHA-256 of a row's fields and of the link of the row before, behind
-- the version of that form. Rows of before the chain have none: one hash over all of them is the first link.
alter table ledger add column link blob check (link is null or length(link) = 33);
alter table audit_log add column link blob check (link is null or length(link) = 33);
create table history_starts (
  log      text    not null primary key check (log in ('ledger', 'audit_log')),
  -- the last row of before the chain
  last_seq integer not null check (last_seq > 0),
  link     blob    not null check (length(link) = 33)
) strict, without rowid;

-- Hashes of the values that a change has left: a JSON object, by the name of each; null for one that is gone.
alter table audit_log add column states text check (states is null or json_valid(states));

-- Fee rate of a sale when it was booked, by which its fee is computed again.
alter table ledger add column sale_fee_bps integer
  check (sale_fee_bps is null or (kind = 'sale' and sale_fee_bps between 0 and 10000));
