-- the sandbox's way back to nothing: children first, the file's own row stays
delete from idempotency;
delete from attempts;
delete from deliveries;
delete from events;
delete from balances;
delete from ledger;
delete from payments;
delete from quotes;
delete from addresses;
delete from address_counters;
delete from invoices;
delete from endpoints;
delete from keys;
delete from payout_addresses;
delete from accounts;
update file set maintenance = 0, clock_offset_ms = 0, clock_frozen_at = null, last_tick_at = 0;
