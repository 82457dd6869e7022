-- Pages of payouts and refunds, of an account and of all: none passes over what does not fit.
create index transfers_of_account_by_status on transfers (account, mode, kind, status, seq);
create index transfers_by_status on transfers (mode, kind, status, seq);
create index transfers_by_kind on transfers (mode, kind, seq);
