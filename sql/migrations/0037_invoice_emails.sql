-- Invoices of a customer's email, so that a search for a whole email finds them at once. Emails are compared without
-- regard to the case of ASCII letters, as by every search.
create index invoices_by_email on invoices (account, mode, customer_email collate nocase, seq)
  where customer_email is not null;
