-- What is below may have been handed out after the copy that a restored file is: a wallet never goes back there.
alter table wallets add column least_index integer not null default 0 check (least_index between 0 and next_index);
-- So far a restore left one trace in a wallet: its index is further than what was handed out and what a person has said.
update wallets set least_index = next_index
where id is not null and (
  (select restored from file) > 0
  or next_index > max(
    ifnull((select max(wallet_index) + 1 from addresses where wallet = wallets.seq), 0),
    ifnull((
      select max(detail ->> 'nextIndex') from audit_log
      where object_id = wallets.id and action in ('wallet.add', 'wallet.resume')
    ), 0)
  )
);
