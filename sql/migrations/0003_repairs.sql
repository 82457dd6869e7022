-- What attacks on the service have shown to be missing.

-- Whose file it is, in its header (the letters "Coff"), so that a database of another program is told from ours.
pragma application_id = 1131374182;

-- Who took an address of an imported pool, and when: one account must not empty a pool that others need too.
-- Of addresses taken before this migration nobody knows when; they count for nothing.
alter table pool_addresses add column account integer references accounts (seq);
alter table pool_addresses add column assigned_at integer;
create index pool_addresses_taken on pool_addresses (account, pool, assigned_at) where assigned_at is not null;
create index pool_addresses_imported on pool_addresses (pool, imported_at);

-- How many servers an account may have at once; 0: it may not order any. Until here every account could, so those
-- that did, or were about to, go on: what they have and ten more.
alter table accounts add column server_quota integer not null default 0 check (server_quota >= 0);
update accounts set server_quota = 10 + (select count(*) from servers s
    where s.account = accounts.seq and s.status not in ('failed', 'deleted'))
where exists (select 1 from reseller_tokens t where t.account = accounts.seq and t.revoked_at is null)
  or exists (select 1 from servers s where s.account = accounts.seq and s.status <> 'deleted');

-- When the password was given last in a session, by real time even where a sandbox's clock is moved: what is sensitive
-- asks for one that is not long past. Of sessions begun before this nobody knows, so they are asked.
alter table sessions add column password_at integer not null default 0;

-- A receiver that fails answers each attempt with the same page, and each was kept: an attempt names the first one of
-- its delivery that was answered the same, which alone has the text.
alter table attempts add column answer_of integer
  check (answer_of is null or answer_of < number and answer is null);
update attempts set answer = null, answer_of = (select min(f.number) from attempts f
    where f.delivery = attempts.delivery and f.answer = attempts.answer)
where answer <> '' and number > (select min(f.number) from attempts f
    where f.delivery = attempts.delivery and f.answer = attempts.answer);

-- Why an attempt failed is read by merchants: which address a name had inside the operator's network is not for them.
update attempts set error = 'address not allowed' where error like 'address not allowed: %';

-- A wall clock that jumps is not believed at once. How far it is ahead of the server's time, in milliseconds, while it
-- is not believed, for `coffer doctor`; and how often a person has said that it is right, which the server looks at.
alter table file add column clock_ahead_ms integer;
alter table file add column clock_accepted integer not null default 0;
