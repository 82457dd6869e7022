//! Counts over several tables: open objects, tasks that wait for a person, failing endpoints.
//!
//! Invariant: rows that have a mode are counted in one mode only.

use super::statement::{rows, values};
use super::{Reader, StoreError};
use crate::domain::asset::Mode;
use crate::domain::money::{Cents, Currency};
use crate::domain::render::summary::FailingEndpointView;
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use crate::domain::transfer::{TransferKind, TransferStatus};

rows! {
    fn read(id, url, failing_since, failed_attempts, last_attempt_at, last_status, last_error) -> FailingEndpointView {
        Ok(FailingEndpointView { id, url, failing_since, failed_attempts, last_attempt_at, last_status, last_error })
    }

    /// Returns the failing endpoints of an account that get events of this mode, oldest first.
    pub fn failing_endpoints(db, account: i64, mode: Mode) -> Vec<FailingEndpointView> =
        file "sql/summary/failing_endpoints.sql";
}

values! {
    /// Returns the number of open invoices of an account, by status. Statuses without invoices are left out.
    pub fn open_invoices(db, account: i64, mode: Mode) -> Vec<(status: InvoiceStatus, count: i64)> =
        "select status, count(*) as count from invoices \
            where account = :account and mode = :mode and status in ('created', 'awaiting_payment', 'detected') \
            group by status";

    /// Returns the number of invoices of an account since a time, by status. Statuses without invoices are left out.
    pub fn recent_invoices(db, account: i64, mode: Mode, since: Time) -> Vec<(status: InvoiceStatus, count: i64)> =
        file "sql/summary/recent_invoices.sql";

    /// Returns the sales of an account since a time: currency, day since 1970, number of bookings, and their sum.
    /// Days without sales are left out.
    pub fn sales_by_day(db, account: i64, mode: Mode, since: Time)
        -> Vec<(currency: Currency, day: i64, count: i64, amount: Cents)> = file "sql/summary/sales_by_day.sql";

    fn open_transfers_of_account(db, account: i64, mode: Mode, kind: TransferKind)
        -> Vec<(status: TransferStatus, count: i64)> =
        "select status, count(*) as count from transfers \
            where account = :account and mode = :mode and kind = :kind \
            and status in ('requested', 'approved', 'processing') group by status";

    fn open_transfers_of_all(db, mode: Mode, kind: TransferKind) -> Vec<(status: TransferStatus, count: i64)> =
        "select status, count(*) as count from transfers \
            where mode = :mode and kind = :kind and status in ('requested', 'approved', 'processing') \
            group by status";

    /// Returns the number of failing endpoints of all accounts that get events of this mode, by the rule of
    /// `failing_endpoints.sql`.
    pub fn count_failing_endpoints(db, mode: Mode) -> (count: i64) = file "sql/summary/count_failing_endpoints.sql";

    /// Returns the number of accounts that wait for approval.
    pub fn pending_accounts(db) -> (count: i64) = "select count(*) as count from accounts where status = 'pending'";

    /// Returns the number of payouts and refunds that may or may not have been sent.
    pub fn unknown_transfers(db, mode: Mode) -> (count: i64) =
        "select count(*) as count from transfers where mode = :mode and sending in ('unknown', 'restored')";

    /// Returns the number of server orders and removals that no provisioner has begun.
    pub fn waiting_servers(db) -> (count: i64) =
        "select count(*) as count from servers \
            where (status = 'queued' or (status = 'active' and deletion_requested_at is not null)) \
            and ordering is null";

    /// Returns the number of servers that may or may not have been made or removed.
    pub fn unknown_servers(db) -> (count: i64) = "select count(*) as count from servers where ordering = 'unknown'";

    /// Returns the number of unmatched payments that are not resolved.
    pub fn unmatched_payments(db, mode: Mode) -> (count: i64) =
        "select count(*) as count from unmatched_payments u cross join observations o \
            where o.seq = u.observation and u.resolved_at is null and o.mode = :mode";
}

/// Returns the number of open payouts or refunds of an account, or of all accounts, by status. Statuses without any are
/// left out.
pub fn open_transfers(
    db: &Reader<'_>,
    account: Option<i64>,
    mode: Mode,
    kind: TransferKind,
) -> Result<Vec<(TransferStatus, i64)>, StoreError> {
    match account {
        Some(account) => open_transfers_of_account(db, account, mode, kind),
        None => open_transfers_of_all(db, mode, kind),
    }
}
