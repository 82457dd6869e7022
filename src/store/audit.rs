//! The rules that every file must keep, as queries that find violations.
//!
//! What lives here: the list of checks, and reading what they find. What does not: checks that need the rules of
//! `domain` (`service::audit`). What always holds: a check only reads, and finds nothing in a file that is right.

pub mod derived;
pub mod noted;

use super::identity::strangers;
use super::statement::{Query, rows, values};
use super::{Reader, StoreError, migrate};
use crate::domain::money::{Bps, Cents};
use crate::domain::progress::{Progress, ProgressSink, to_count};
use crate::domain::time::Time;

/// Something that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of the rule in `src/web/guides/backup.md`.
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

rows! {
    fn read(about, found, should) -> Found {
        Ok((about, found, should))
    }
    /// Rule 6: the file is whole.
    INTEGRITY = whole "select 'the file' as about, c.integrity_check as found, 'whole' as should \
        from pragma_integrity_check c where c.integrity_check <> 'ok'";
    /// Rule 5: every reference leads somewhere.
    FOREIGN_KEYS = whole "select format('row %s of %s', ifnull(k.rowid, 'without a number'), k.\"table\") as about, \
        'a reference to a row that is not there' as found, format('a row of %s', k.parent) as should \
        from pragma_foreign_key_check k";
    RUNNING_SUMS = file "sql/audit/running_sums.sql";
    RESERVED = file "sql/audit/reserved.sql";
    SALES = file "sql/audit/sales.sql";
    FEES_BESIDE_SALES = file "sql/audit/fees.sql";
    SOURCES = file "sql/audit/sources.sql";
    REVERSALS = file "sql/audit/reversals.sql";
    BOOKED = file "sql/audit/booked.sql";
    RATES = file "sql/audit/rates.sql";
    TRANSFERS = file "sql/audit/transfers.sql";
    SENT_OUTPUTS = file "sql/audit/sent_outputs.sql";
    REFUNDED = file "sql/audit/refunded.sql";
    LAST_EVENTS = file "sql/audit/last_events.sql";
    FINAL_EVENTS = file "sql/audit/final_events.sql";
    EVENT_BODIES = file "sql/audit/event_bodies.sql";
    DELIVERIES = file "sql/audit/deliveries.sql";
    OWNERS = file "sql/audit/owners.sql";
    ADDRESSES = file "sql/audit/addresses.sql";
    MODES = file "sql/audit/modes.sql";
    CHAINS = file "sql/audit/chains.sql";
    REQUESTS = file "sql/audit/requests.sql";
}

rows! {
    fn read_counts(
        invoices = "(select count(*) from invoices)",
        payments = "(select count(*) from payments)",
        deposits = "(select count(*) from deposits)",
        transfers = "(select count(*) from transfers)",
        entries = "(select count(*) from ledger)",
        events = "(select count(*) from events)",
        deliveries = "(select count(*) from deliveries)",
        addresses = "(select count(*) from addresses)",
    ) -> Counts {
        Ok(Counts { invoices, payments, deposits, transfers, entries, events, deliveries, addresses })
    }

    /// Counts what there is to check.
    pub fn counts(db) -> Counts = select "";
}

rows! {
    fn read_fee(id, sale, amount, rate) -> Fee {
        Ok(Fee { id, sale, amount, rate })
    }
    FEES = file "sql/audit/fee_amounts.sql";
}

rows! {
    fn read_sale(id, sale, fee, rate, fee_rate) -> SaleFee {
        Ok(SaleFee { id, sale, fee, rate, fee_rate })
    }
    SALES_FEES = file "sql/audit/sales_fees.sql";
}

values! {
    /// The next invoices after this one.
    /// Every invoice in order, for judging each again.
    pub fn invoices(db, after: i64, limit: u32) -> Vec<(seq: i64)> =
        "select seq from invoices where seq > :after order by seq limit :limit";

    LAST_TICK(last_tick_at: Time) = "select last_tick_at from file where id = 1";
}

/// What is found: about, is, should.
type Found = (String, String, String);

/// Rule and query; each row that comes is a finding.
const CHECKS: [(u8, Query<Found>); 22] = [
    (6, INTEGRITY),
    (5, FOREIGN_KEYS),
    (1, RUNNING_SUMS),
    (1, RESERVED),
    (2, SALES),
    (2, FEES_BESIDE_SALES),
    (2, SOURCES),
    (2, REVERSALS),
    (2, BOOKED),
    (2, RATES),
    (2, TRANSFERS),
    (2, SENT_OUTPUTS),
    (3, REFUNDED),
    (4, LAST_EVENTS),
    (4, FINAL_EVENTS),
    (4, EVENT_BODIES),
    (4, DELIVERIES),
    (5, OWNERS),
    (5, ADDRESSES),
    (5, MODES),
    (7, CHAINS),
    (8, REQUESTS),
];

/// Runs every query but those of [`check_whole`], and looks whether the schema is the one that a new file has. `tell` hears
/// how many are done.
///
/// # Errors
/// [`StoreError`] where the file cannot be read.
pub fn check_rows(
    db: &Reader<'_>,
    report: &mut dyn FnMut(Finding),
    tell: &mut ProgressSink<'_>,
) -> Result<(), StoreError> {
    let [_, _, of_rows @ ..] = CHECKS;
    run(db, &of_rows, report, tell)?;
    strangers(db.conn, migrate::NEWEST)?
        .into_iter()
        .for_each(report);
    Ok(())
}

/// Is the file whole, and does every reference lead somewhere?
///
/// # Errors
/// [`StoreError`] where the file cannot be read.
pub fn check_whole(
    db: &Reader<'_>,
    report: &mut dyn FnMut(Finding),
    tell: &mut ProgressSink<'_>,
) -> Result<(), StoreError> {
    let [whole, references, ..] = CHECKS;
    run(db, &[whole, references], report, tell)
}

/// Runs these queries.
fn run(
    db: &Reader<'_>,
    checks: &[(u8, Query<Found>)],
    report: &mut dyn FnMut(Finding),
    tell: &mut ProgressSink<'_>,
) -> Result<(), StoreError> {
    let (part, of) = ("checks made", to_count(checks.len()));
    for (done, (rule, query)) in (0..).zip(checks) {
        tell(Progress::Done { part, done, of });
        findings(db, *rule, query, report)?;
    }
    tell(Progress::Done { part, done: of, of });
    Ok(())
}

fn findings(
    db: &Reader<'_>,
    rule: u8,
    query: &Query<Found>,
    report: &mut dyn FnMut(Finding),
) -> Result<(), StoreError> {
    query.each(db, &[], |(about, is, should)| {
        report(Finding {
            rule,
            about,
            is,
            should,
        });
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
pub fn fees(db: &Reader<'_>, each: impl FnMut(Fee)) -> Result<(), StoreError> {
    FEES.each(db, &[], each)
}

/// A sale with its fee rate and its fee.
pub struct SaleFee {
    /// Id of the sale's entry.
    pub id: String,
    /// The sale.
    pub sale: Cents,
    /// Its fee as it was booked; zero where none was.
    pub fee: Cents,
    /// Rate at which the sale was booked.
    pub rate: Bps,
    /// Rate that the fee's entry names.
    pub fee_rate: Option<Bps>,
}

/// Every sale that keeps its fee rate.
pub fn sales_fees(db: &Reader<'_>, each: impl FnMut(SaleFee)) -> Result<(), StoreError> {
    SALES_FEES.each(db, &[], each)
}

/// The latest moment at which a stored status was judged by time.
pub fn last_tick(db: &Reader<'_>) -> Result<Time, StoreError> {
    let found = LAST_TICK.first(db, &[])?;
    Ok(found.unwrap_or(Time(0)))
}
