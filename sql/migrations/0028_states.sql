-- Finds the rows of the audit log that keep hashes of values; the upgrade adds one for each value that there is.
create index audit_log_with_states on audit_log (seq) where states is not null;
