-- Limits of payment links: the time from which a link creates no invoice, and the number of paid uses. Also the URL to
-- which payers go after payment.
alter table payment_links add column expires_at integer check (expires_at > created_at);
alter table payment_links add column paid_uses_max integer check (paid_uses_max between 1 and 100000);
alter table payment_links add column redirect_url text check (redirect_url <> '');

-- The picture of each payment link that has one. The column `bytes` is last, so that SQLite reads the other columns
-- without it.
create table payment_link_pictures (
  link   integer primary key references payment_links (seq),
  hash   text    not null check (length(hash) = 64 and hash not glob '*[^0-9a-f]*'),
  format text    not null check (format in ('png', 'jpeg', 'webp')),
  width  integer not null check (width between 1 and 2048),
  height integer not null check (height between 1 and 2048),
  bytes  blob    not null check (length(bytes) between 1 and 102400)
) strict;

-- The paid invoices of each payment link, in the order in which they were paid, and its invoices with a payment that
-- is not confirmed yet.
create index invoices_paid_of_link on invoices (payment_link_id, confirmed_at)
  where payment_link_id is not null and confirmed_at is not null;
create index invoices_detected_of_link on invoices (payment_link_id)
  where payment_link_id is not null and status = 'detected';
