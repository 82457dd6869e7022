//! Queries that check whether the content of a file is consistent. Checks that need code of `domain` are in
//! `service::audit`.
//!
//! Invariant: a check only reads.

pub mod derived;
pub mod noted;

use super::identity::schema_differences;
pub use super::integrity::AuditFinding;
use super::integrity::{Violation, foreign_keys, integrity, read_violation};
use super::migrate::MIGRATIONS;
use super::statement::{Query, query, statements};
use super::{Reader, StoreError};
use crate::domain::progress::to_count;
use crate::domain::{Bps, Cents, Progress, ProgressSink, Time};

/// Numbers of the rows that an audit checks.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditCounts {
    /// Number of invoices.
    pub invoices: i64,
    /// Number of payments of invoices.
    pub payments: i64,
    /// Number of deposits of customers.
    pub deposits: i64,
    /// Number of payouts and refunds.
    pub transfers: i64,
    /// Number of ledger entries.
    pub entries: i64,
    /// Number of events.
    pub events: i64,
    /// Number of deliveries.
    pub deliveries: i64,
    /// Number of addresses that were handed out.
    pub addresses: i64,
}

statements! {
    row read_counts(
        invoices = "(select count(*) from invoices)",
        payments = "(select count(*) from payments)",
        deposits = "(select count(*) from deposits)",
        transfers = "(select count(*) from transfers)",
        entries = "(select count(*) from ledger)",
        events = "(select count(*) from events)",
        deliveries = "(select count(*) from deliveries)",
        addresses = "(select count(*) from addresses)",
    ) -> AuditCounts {
        Ok(AuditCounts { invoices, payments, deposits, transfers, entries, events, deliveries, addresses })
    }

    /// Returns the numbers of the rows that an audit checks.
    pub fn counts(db) -> only AuditCounts = select "";

    row read_sale(id, sale, fee, rate, fee_rate) -> SaleFee {
        Ok(SaleFee { id, sale, fee, rate, fee_rate })
    }

    /// Passes every sale to `each`.
    pub fn each_sale_fee(db) -> each SaleFee = file "sql/audit/sales_fees.sql";

    /// Returns the `seq` of the next `limit` invoices whose `seq` is greater than `after`, in ascending order.
    pub fn invoice_seqs(db, after: i64, limit: u32) -> Vec<(seq: i64)> =
        "select seq from invoices where seq > :after order by seq limit :limit";

    /// Returns the latest time at which a worker updated the statuses that change with time.
    pub fn last_tick(db) -> (last_tick_at: Time) =
        "select ifnull(max(last_tick_at), 0) as last_tick_at from file where id = 1";
}

/// Queries for violations, each with the number of its rule in `src/web/guides/backup.md`.
const CHECKS: [(u8, Query<Violation>); 24] = [
    (6, integrity()),
    (5, foreign_keys()),
    (1, query!(read_violation, file "sql/audit/running_sums.sql")),
    (1, query!(read_violation, file "sql/audit/reserved.sql")),
    (2, query!(read_violation, file "sql/audit/sales.sql")),
    (2, query!(read_violation, file "sql/audit/fees.sql")),
    (2, query!(read_violation, file "sql/audit/sources.sql")),
    (2, query!(read_violation, file "sql/audit/reversals.sql")),
    (2, query!(read_violation, file "sql/audit/booked.sql")),
    (2, query!(read_violation, file "sql/audit/rates.sql")),
    (2, query!(read_violation, file "sql/audit/transfers.sql")),
    (2, query!(read_violation, file "sql/audit/destination_outputs.sql")),
    (3, query!(read_violation, file "sql/audit/refunded.sql")),
    (4, query!(read_violation, file "sql/audit/last_events.sql")),
    (4, query!(read_violation, file "sql/audit/final_events.sql")),
    (4, query!(read_violation, file "sql/audit/event_bodies.sql")),
    (4, query!(read_violation, file "sql/audit/deliveries.sql")),
    (4, query!(read_violation, file "sql/audit/receipts.sql")),
    (5, query!(read_violation, file "sql/audit/owners.sql")),
    (5, query!(read_violation, file "sql/audit/addresses.sql")),
    (5, query!(read_violation, file "sql/audit/modes.sql")),
    (7, query!(read_violation, file "sql/audit/chains.sql")),
    (8, query!(read_violation, file "sql/audit/requests.sql")),
    (1, query!(read_violation, file "sql/audit/sales_by_hour.sql")),
];

/// Runs every check except those of [`check_integrity`], and compares the schema with that of a new file. Reports the
/// progress to `tell`.
pub fn check_rows(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
    tell: &mut ProgressSink<'_>,
) -> Result<(), StoreError> {
    let [_, _, of_rows @ ..] = CHECKS;
    run_checks(db, &of_rows, report, tell)?;
    schema_differences(db.conn, MIGRATIONS.newest())?.into_iter().for_each(report);
    Ok(())
}

/// Checks the pages and the references of the file.
pub fn check_integrity(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
    tell: &mut ProgressSink<'_>,
) -> Result<(), StoreError> {
    let [whole, references, ..] = CHECKS;
    run_checks(db, &[whole, references], report, tell)
}

fn run_checks(
    db: &Reader<'_>,
    checks: &[(u8, Query<Violation>)],
    report: &mut dyn FnMut(AuditFinding),
    tell: &mut ProgressSink<'_>,
) -> Result<(), StoreError> {
    let (part, of) = ("checks made", to_count(checks.len()));
    for (done, (rule, query)) in (0..).zip(checks) {
        tell(Progress::Done { part, done, of });
        query.each(db, &[], |(about, is, should)| {
            report(AuditFinding { rule: *rule, about, is, should });
        })?;
    }
    tell(Progress::Done { part, done: of, of });
    Ok(())
}

/// A sale with its fee and fee rates.
pub struct SaleFee {
    /// Id of the sale's ledger entry.
    pub id: String,
    /// Amount of the sale.
    pub sale: Cents,
    /// Booked fee; zero if none was booked.
    pub fee: Cents,
    /// Fee rate of the account when the sale was booked.
    pub rate: Bps,
    /// Fee rate in the ledger entry of the fee; `None` if no fee was booked.
    pub fee_rate: Option<Bps>,
}

#[cfg(test)]
mod tests {
    use super::CHECKS;
    use crate::store::statement::check;

    #[test]
    fn every_check_returns_violations() {
        for (_, query) in CHECKS {
            check(query.sql(), &["about", "found", "should"]);
        }
    }
}
