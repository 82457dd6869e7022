-- Home finds the place of a time by a binary search, so that a new invoice does not pay for this index.
drop index invoices_by_time;
