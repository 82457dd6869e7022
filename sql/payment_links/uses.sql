-- The uses of a payment link: its paid invoices, and its invoices with an unconfirmed payment. Counts at most `most` of
-- each.
select
  (select count(*) from (
    select 1 from invoices where payment_link_id = :id and confirmed_at is not null limit :most)) as paid,
  (select count(*) from (
    select 1 from invoices where payment_link_id = :id and status = 'detected' limit :most)) as unconfirmed
