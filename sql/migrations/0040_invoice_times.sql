-- Only Home read this index, and every new invoice had to write to it. Home uses a binary search instead.
drop index invoices_by_time;
