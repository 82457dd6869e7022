-- Who sends an approved transfer, since when the signer has it, and where its network fee comes from. A transfer that is
-- approved at the upgrade is filled by the first server, which knows whether a signer is set.
alter table transfers add column sent_by text check (sent_by is null or (sent_by in ('hand', 'signer') and approved_at is not null));
alter table transfers add column signer_at integer check ((signer_at is null) = (sent_by is not 'signer'));
alter table transfers add column network_fee_from text
  check (network_fee_from is null
    or (network_fee_from in ('given', 'estimate', 'setting', 'default') and approved_at is not null));
with by_command (id) as (
  select object_id from audit_log
  where actor = 'signer command' and action in ('payout.process', 'refund.process') and object_id is not null
)
update transfers set sent_by = iif(id in (select id from by_command), 'signer', 'hand'),
  signer_at = iif(id in (select id from by_command), approved_at, null)
where status in ('processing', 'paid');
create index transfers_of_signer on transfers (account, currency, signer_at) where signer_at is not null;

-- A wallet passes over an address that money is sent to.
create index transfers_to_address on transfers (to_address);
create index payout_addresses_by_address on payout_addresses (address);

-- Most that the signer is given of an account in 24 hours, in cents of each currency; null for no limit.
alter table accounts add column signer_max integer default 100000 check (signer_max >= 0);

-- Network fee of a coin, in base units, where the operator has set one; else the program has one.
create table network_fees (
  asset text not null primary key check (asset <> ''),
  fee   text not null check (fee <> '')
) strict;
