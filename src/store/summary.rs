//! Counts over several tables for the start pages: open objects, tasks of the operator, failing endpoints.
//!
//! Invariant: rows with a mode are counted for one mode only.

use super::statement::statements;
use super::{Reader, StoreError};
use crate::domain::{
    Cents, Currency, FailingEndpoint, InvoiceStatus, Mode, Time, TransferKind, TransferStatus,
};

statements! {
    row read(id, url, failing_since, failed_attempts, last_attempt_at, last_status, last_error) -> FailingEndpoint {
        Ok(FailingEndpoint { id, url, failing_since, failed_attempts, last_attempt_at, last_status, last_error })
    }

    /// Returns the failing endpoints of an account for one mode, oldest first.
    pub fn failing_endpoints(db, account: i64, mode: Mode) -> Vec<FailingEndpoint> =
        file "sql/summary/failing_endpoints.sql";

    /// Returns the numbers of open invoices of an account, by status. Leaves out statuses without invoices.
    pub fn open_invoice_counts(db, account: i64, mode: Mode) -> Vec<(status: InvoiceStatus, count: i64)> =
        "select status, count(*) as count from invoices \
            where account = :account and mode = :mode and status in ('created', 'awaiting_payment', 'detected') \
            group by status";

    fn counts_after(db, account: i64, mode: Mode, after: i64) -> Vec<(status: InvoiceStatus, count: i64)> =
        file "sql/summary/recent_invoices.sql";

    fn next_invoice(db, from: i64) -> Option<(seq: i64, created_at: Time)> =
        "select seq, created_at from invoices where seq >= :from order by seq limit 1";

    fn last_invoice(db) -> (seq: i64) = "select ifnull(max(seq), 0) as seq from invoices";

    /// Returns the sales of an account since a time, by currency and day. Each row has the currency, the day since
    /// 1970, the number of sales, and their sum. Leaves out days without sales.
    pub fn sales_by_day(db, account: i64, mode: Mode, since: Time)
        -> Vec<(currency: Currency, day: i64, count: i64, amount: Cents)> = file "sql/summary/sales_by_day.sql";

    fn open_counts_of_account(db, account: i64, mode: Mode, kind: TransferKind)
        -> Vec<(status: TransferStatus, count: i64)> =
        "select status, count(*) as count from transfers \
            where account = :account and mode = :mode and kind = :kind \
            and status in ('requested', 'approved', 'processing') group by status";

    fn open_counts_of_all(db, mode: Mode, kind: TransferKind) -> Vec<(status: TransferStatus, count: i64)> =
        "select status, count(*) as count from transfers \
            where mode = :mode and kind = :kind and status in ('requested', 'approved', 'processing') \
            group by status";

    /// Returns the number of failing endpoints of all accounts for one mode. The file `failing_endpoints.sql` defines
    /// when an endpoint is failing.
    pub fn count_failing_endpoints(db, mode: Mode) -> (count: i64) = file "sql/summary/count_failing_endpoints.sql";

    /// Returns the number of accounts that wait for approval.
    pub fn count_pending_accounts(db) -> (count: i64) = "select count(*) as count from accounts where status = 'pending'";

    /// Returns the number of payouts and refunds for which it is unknown whether they were sent.
    pub fn count_unknown_transfers(db, mode: Mode) -> (count: i64) =
        "select count(*) as count from transfers where mode = :mode and sending in ('unknown', 'restored')";

    /// Returns the number of server orders and removals that no provisioner has started.
    pub fn count_waiting_servers(db) -> (count: i64) =
        "select count(*) as count from servers \
            where (status = 'queued' or (status = 'active' and deletion_requested_at is not null)) \
            and ordering is null";

    /// Returns the number of servers for which it is unknown whether they were created or removed.
    pub fn count_unknown_servers(db) -> (count: i64) = "select count(*) as count from servers where ordering = 'unknown'";

    /// Returns the number of unmatched payments without a resolution.
    pub fn count_unmatched_payments(db, mode: Mode) -> (count: i64) =
        "select count(*) as count from unmatched_payments u cross join observations o \
            where o.seq = u.observation and u.resolved_at is null and o.mode = :mode";
}

/// Returns the numbers of invoices that an account created since a time, by status. Leaves out statuses without
/// invoices.
pub fn recent_invoice_counts(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    since: Time,
) -> Result<Vec<(InvoiceStatus, i64)>, StoreError> {
    let after = last_invoice_before(db, since)?;
    counts_after(db, account, mode, after)
}

/// Returns the `seq` of the newest invoice that was created before a time; 0 if there is none.
///
/// A binary search: newer invoices have a larger `seq`. An index of the times would be read here only, and cost every
/// new invoice a write.
fn last_invoice_before(db: &Reader<'_>, time: Time) -> Result<i64, StoreError> {
    let (mut before, mut last) = (0, last_invoice(db)?);
    while before < last {
        let middle = before.midpoint(last).max(before.saturating_add(1));
        match next_invoice(db, middle)? {
            Some((seq, created_at)) if created_at < time => before = seq,
            _ => last = middle.saturating_sub(1),
        }
    }
    Ok(before)
}

/// Returns the numbers of open payouts or refunds, by status. With `account`, only those of this account. Leaves out
/// statuses without payouts or refunds.
pub fn open_transfer_counts(
    db: &Reader<'_>,
    account: Option<i64>,
    mode: Mode,
    kind: TransferKind,
) -> Result<Vec<(TransferStatus, i64)>, StoreError> {
    match account {
        Some(account) => open_counts_of_account(db, account, mode, kind),
        None => open_counts_of_all(db, mode, kind),
    }
}
