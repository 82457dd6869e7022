-- The second factor of a user: what an authenticator app shares with Coffer (TOTP, RFC 6238). It is asked for once the
-- user has shown a first code of it; until then it was only begun.
alter table users add column second_factor_secret blob check (length(second_factor_secret) = 20);
-- since when it is asked for
alter table users add column second_factor_at integer check (
  second_factor_at is null or second_factor_secret is not null);
-- the step of 30 seconds whose code was used last: no code is taken twice
alter table users add column second_factor_step integer check (
  (second_factor_step is null) = (second_factor_at is null)
  and (second_factor_step is null or second_factor_step >= 0));

-- What stands in for the app when it is lost, each once: SHA-256 of a code of 80 random bits. One that was used is gone.
create table recovery_codes (
  hash blob    primary key check (length(hash) = 32),
  user integer not null references users (seq)
) strict;
create index recovery_codes_of_user on recovery_codes (user);
