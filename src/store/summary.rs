//! Counts over several tables: what is open, what waits for a person, which endpoints fail.
//!
//! What does not live here: the rows themselves, which are each table's. What always holds: nothing is written, and
//! what has a mode is counted in one mode only.

use super::statement::{rows, values};
use super::{Reader, StoreError};
use crate::domain::asset::Mode;
use crate::domain::money::{Cents, Currency};
use crate::domain::render::summary::FailingEndpointView;
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use crate::domain::transfer::{TransferKind, TransferStatus};
use rusqlite::named_params;

rows! {
    fn read(id, url, failing_since, failed_attempts, last_attempt_at, last_status, last_error) -> FailingEndpointView {
        Ok(FailingEndpointView { id, url, failing_since, failed_attempts, last_attempt_at, last_status, last_error })
    }

    /// The endpoints of an account that fail, of those that are told of this mode, oldest first.
    pub fn failing_endpoints(db, account: i64, mode: Mode) -> Vec<FailingEndpointView> =
        file "sql/summary/failing_endpoints.sql";
}

values! {
    /// How many invoices of an account wait for a payment, or for its confirmation, by status; those of none are left out.
    pub fn open_invoices(db, account: i64, mode: Mode) -> Vec<(status: InvoiceStatus, count: i64)> =
        "select status, count(*) as count from invoices \
            where account = :account and mode = :mode and status in ('created', 'awaiting_payment', 'detected') \
            group by status";

    /// How many invoices of an account were made since then, by status; those of none are left out.
    pub fn recent_invoices(db, account: i64, mode: Mode, since: Time) -> Vec<(status: InvoiceStatus, count: i64)> =
        file "sql/summary/recent_invoices.sql";

    /// What an account sold since then: the currency, the day as days since 1970, how many bookings, their sum. Days of none
    /// are left out.
    pub fn sales_by_day(db, account: i64, mode: Mode, since: Time)
        -> Vec<(currency: Currency, day: i64, count: i64, amount: Cents)> = file "sql/summary/sales_by_day.sql";

    OPEN_TRANSFERS(status: TransferStatus, count: i64) = "select status, count(*) as count from transfers \
        where account = :account and mode = :mode and kind = :kind and status in ('requested', 'approved', 'processing') \
        group by status";

    OPEN_TRANSFERS_OF_ALL(status: TransferStatus, count: i64) = "select status, count(*) as count from transfers \
        where mode = :mode and kind = :kind and status in ('requested', 'approved', 'processing') \
        group by status";

    /// How many endpoints of all accounts fail, of those that are told of this mode.
    /// By the same rule as failing_endpoints.sql.
    pub fn count_failing_endpoints(db, mode: Mode) -> (count: i64) = file "sql/summary/count_failing_endpoints.sql";

    /// How many accounts wait for approval.
    pub fn pending_accounts(db) -> (count: i64) = "select count(*) as count from accounts where status = 'pending'";

    /// Of how many payouts and refunds nobody knows whether they were sent.
    pub fn unknown_transfers(db, mode: Mode) -> (count: i64) =
        "select count(*) as count from transfers where mode = :mode and sending in ('unknown', 'restored')";

    /// How many servers are to be made or to be removed, and nobody has begun.
    /// To be made or to be removed, and nobody has begun.
    pub fn waiting_servers(db) -> (count: i64) =
        "select count(*) as count from servers \
            where (status = 'queued' or (status = 'active' and deletion_requested_at is not null)) and ordering is \
            null";

    /// Of how many servers nobody knows whether they were made or removed.
    pub fn unknown_servers(db) -> (count: i64) = "select count(*) as count from servers where ordering = 'unknown'";

    /// How many payments matched nothing and were not yet looked at.
    pub fn unmatched_payments(db, mode: Mode) -> (count: i64) =
        "select count(*) as count from unmatched_payments u cross join observations o \
            where o.seq = u.observation and u.resolved_at is null and o.mode = :mode";
}

/// How many payouts or refunds are open, by status; of this account, or of all. Those of none are left out.
pub fn open_transfers(
    db: &Reader<'_>,
    account: Option<i64>,
    mode: Mode,
    kind: TransferKind,
) -> Result<Vec<(TransferStatus, i64)>, StoreError> {
    match account {
        Some(account) => OPEN_TRANSFERS.all(
            db,
            named_params! { ":account": account, ":mode": mode, ":kind": kind },
        ),
        None => OPEN_TRANSFERS_OF_ALL.all(db, named_params! { ":mode": mode, ":kind": kind }),
    }
}
