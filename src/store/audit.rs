//! What must always hold in a file, as queries that find what does not.
//!
//! What lives here: the list of checks and reading their findings. What does not: what needs the rules of `domain`
//! (`service::audit`). What always holds: a check only reads, and finds nothing in a file that is right.

use super::identity::strangers;
use super::row::Columns;
use super::{Reader, StoreError, migrate};
use crate::domain::money::{Bps, Cents};
use crate::domain::time::Time;
use rusqlite::named_params;

/// Something that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of the rule in the README.
    pub rule: u8,
    /// Which thing, with its id.
    pub about: String,
    /// What it is.
    pub is: String,
    /// What it should be.
    pub should: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Finding {
            rule,
            about,
            is,
            should,
        } = self;
        write!(out, "rule {rule}: {about} is {is}; should be {should}")
    }
}

/// Rule and query; each row that comes is a finding: about, is, should.
const CHECKS: [(u8, &str); 19] = [
    (6, include_str!("../../sql/audit/integrity.sql")),
    (5, include_str!("../../sql/audit/foreign_keys.sql")),
    (1, include_str!("../../sql/audit/running_sums.sql")),
    (1, include_str!("../../sql/audit/reserved.sql")),
    (2, include_str!("../../sql/audit/sales.sql")),
    (2, include_str!("../../sql/audit/fees.sql")),
    (2, include_str!("../../sql/audit/sources.sql")),
    (2, include_str!("../../sql/audit/reversals.sql")),
    (2, include_str!("../../sql/audit/booked.sql")),
    (2, include_str!("../../sql/audit/rates.sql")),
    (2, include_str!("../../sql/audit/transfers.sql")),
    (3, include_str!("../../sql/audit/refunded.sql")),
    (4, include_str!("../../sql/audit/last_events.sql")),
    (4, include_str!("../../sql/audit/final_events.sql")),
    (4, include_str!("../../sql/audit/event_bodies.sql")),
    (4, include_str!("../../sql/audit/deliveries.sql")),
    (5, include_str!("../../sql/audit/owners.sql")),
    (5, include_str!("../../sql/audit/addresses.sql")),
    (5, include_str!("../../sql/audit/modes.sql")),
];

/// How much there is of what is checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Invoices.
    pub invoices: i64,
    /// Payments of invoices.
    pub payments: i64,
    /// Deposits of customers.
    pub deposits: i64,
    /// Payouts and refunds.
    pub transfers: i64,
    /// Ledger entries.
    pub entries: i64,
    /// Events.
    pub events: i64,
    /// Deliveries.
    pub deliveries: i64,
    /// Addresses handed out.
    pub addresses: i64,
}

/// Runs every query, and looks whether the schema is the one that a new file has.
pub fn check(db: &Reader<'_>, report: &mut dyn FnMut(Finding)) -> Result<(), StoreError> {
    for (rule, sql) in &CHECKS {
        findings(db, *rule, sql, report)?;
    }
    strangers(db.conn, migrate::NEWEST)?
        .into_iter()
        .for_each(report);
    Ok(())
}

/// Is the file whole, and does every reference lead somewhere?
pub fn check_whole(db: &Reader<'_>, report: &mut dyn FnMut(Finding)) -> Result<(), StoreError> {
    let [integrity, references, ..] = &CHECKS;
    findings(db, integrity.0, integrity.1, report)?;
    findings(db, references.0, references.1, report)
}

fn findings(
    db: &Reader<'_>,
    rule: u8,
    sql: &str,
    report: &mut dyn FnMut(Finding),
) -> Result<(), StoreError> {
    db.each(sql, [], |row| {
        let mut next = Columns::of(row);
        report(Finding {
            rule,
            about: next.take()?,
            is: next.take()?,
            should: next.take()?,
        });
        Ok(())
    })
}

/// A fee, and the sale that it is of.
pub struct Fee {
    /// The entry's id.
    pub id: String,
    /// The sale.
    pub sale: Cents,
    /// The fee as it was booked.
    pub amount: Cents,
    /// The rate it was booked at.
    pub rate: Bps,
}

/// Every fee.
pub fn fees(db: &Reader<'_>, mut each: impl FnMut(Fee)) -> Result<(), StoreError> {
    db.each(include_str!("../../sql/audit/fee_amounts.sql"), [], |row| {
        let mut next = Columns::of(row);
        each(Fee {
            id: next.take()?,
            sale: next.take()?,
            amount: next.take()?,
            rate: next.take()?,
        });
        Ok(())
    })
}

/// The next invoices after this one.
pub fn invoices(db: &Reader<'_>, after: i64, limit: u32) -> Result<Vec<i64>, StoreError> {
    db.all(
        include_str!("../../sql/audit/invoices.sql"),
        named_params! { ":after": after, ":limit": limit },
        |row| row.get(0),
    )
}

/// The latest moment at which a stored status was judged by time.
pub fn last_tick(db: &Reader<'_>) -> Result<Time, StoreError> {
    let found = db.first(include_str!("../../sql/audit/last_tick.sql"), [], |row| {
        row.get(0)
    })?;
    Ok(found.unwrap_or(Time(0)))
}

/// Counts what there is to check.
pub fn counts(db: &Reader<'_>) -> Result<Counts, StoreError> {
    let found = db.first(include_str!("../../sql/audit/counts.sql"), [], |row| {
        let mut next = Columns::of(row);
        Ok(Counts {
            invoices: next.take()?,
            payments: next.take()?,
            deposits: next.take()?,
            transfers: next.take()?,
            entries: next.take()?,
            events: next.take()?,
            deliveries: next.take()?,
            addresses: next.take()?,
        })
    })?;
    Ok(found.unwrap_or_default())
}
