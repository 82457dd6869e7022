//! Audit of a file: checks that the stored data follows the rules.
//!
//! Invariant: the audit writes nothing, and its memory use does not grow with the file.
//!
//! This module has the checks that need the rules of `domain`. Checks that are queries are in `store::audit`.

mod derived;
mod destinations;
pub(super) mod history;
mod newest_events;
mod requested;
mod states;

use self::history::check_history;
use super::Error;
use crate::domain::progress::{ignore_progress, to_count};
use crate::domain::time::HOUR_MS;
use crate::domain::{Cents, Invoice, LaggingChains, LogHead, Progress, ProgressSink, Time};
use crate::store::{Reader, audit, chains, invoices, payments, quotes};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

pub use crate::store::audit::{AuditCounts, AuditFinding};
pub use derived::check_addresses;

const PAGE: u32 = 1000;
/// Maximum time for which an invoice may stay open after its deadline, in milliseconds. The expiry worker may be late
/// after the server was stopped.
const OVERDUE_MS_MAX: i64 = HOUR_MS;

enum AuditMessage {
    Found(AuditFinding),
    Done { part: &'static str, done: u64, of: u64 },
}

/// Function that runs one part of the audit, independent of the other parts.
type AuditPart =
    fn(&Reader<'_>, &mut dyn FnMut(AuditFinding), &mut ProgressSink<'_>) -> Result<(), Error>;

/// All parts of the audit, in the order in which their messages are read. The first part looks for damaged pages. If
/// pages are damaged, the audit ends.
const PARTS: [AuditPart; 3] = [
    |db, report, _| Ok(audit::check_integrity(db, report, &mut ignore_progress)?),
    check_single_rows,
    check_invoices,
];
/// Capacity of a part's message queue. The part blocks when the queue is full, so memory does not grow with findings.
const MESSAGE_QUEUE_MAX: usize = 1024;

/// Checks everything except the addresses, and reports each finding. [`check_addresses`] checks the addresses.
///
/// Returns the counts of the checked rows, and the newest hash-chain links (heads) of the ledger and the audit log.
/// `noted` contains heads that a person wrote down earlier. Each noted head must be in the history. `tell` receives
/// the progress.
///
/// The parts run in parallel, each on its own snapshot of the file.
pub fn audit(
    db: &Reader<'_>,
    noted: &[LogHead],
    report: &mut dyn FnMut(AuditFinding),
    tell: &mut ProgressSink<'_>,
) -> Result<(AuditCounts, Vec<LogHead>), Error> {
    let file = &db.reopenable_file()?;
    thread::scope(|scope| {
        let parts = PARTS.map(|check| {
            let (teller, told) = sync_channel(MESSAGE_QUEUE_MAX);
            let part = scope.spawn(move || file.read(|db| run_audit_part(db, check, &teller)));
            (part, told)
        });
        let (teller, found) = sync_channel(MESSAGE_QUEUE_MAX);
        let history = scope.spawn(move || {
            let mut tell = |finding| drop(teller.send(finding));
            file.read(|db| Ok((audit::counts(db)?, check_history(db, noted, &mut tell)?)))
        });
        for (part, told) in parts {
            for told in told {
                match told {
                    AuditMessage::Found(finding) => report(finding),
                    AuditMessage::Done { part, done, of } => {
                        tell(Progress::Done { part, done, of })
                    }
                }
            }
            thread_result(part.join())?;
        }
        found.into_iter().for_each(&mut *report);
        thread_result(history.join())
    })
}

/// Returns the result of a joined thread, or an error if the thread panicked.
fn thread_result<T>(joined: thread::Result<Result<T, Error>>) -> Result<T, Error> {
    joined.unwrap_or_else(|_| Err(Error::Failed("a check of the audit failed".to_owned())))
}

fn run_audit_part(
    db: &Reader<'_>,
    check: AuditPart,
    teller: &SyncSender<AuditMessage>,
) -> Result<(), Error> {
    // If an earlier part failed, the receiver is gone and the message is dropped.
    let tell = |told: AuditMessage| drop(teller.send(told));
    check(db, &mut |finding| tell(AuditMessage::Found(finding)), &mut |said| match said {
        Progress::Done { part, done, of } => tell(AuditMessage::Done { part, done, of }),
        Progress::Note(_) => {}
    })
}

/// Checks single rows, by queries and by the rules of `domain`.
fn check_single_rows(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
    tell: &mut ProgressSink<'_>,
) -> Result<(), Error> {
    audit::check_rows(db, report, tell)?;
    check_sales(db, report)?;
    requested::check_transfer_terms(db, report)?;
    destinations::check_destinations(db, audit::last_tick(db)?, report)?;
    destinations::check_paid_transfers(db, report)?;
    states::check_value_hashes(db, report)?;
    newest_events::check_transfers(db, report)?;
    newest_events::check_deposits(db, report)
}

/// Checks rule 2 of the audit: each sale has the fee that follows from the rate at which the sale was booked, rounded
/// half to even.
fn check_sales(db: &Reader<'_>, report: &mut dyn FnMut(AuditFinding)) -> Result<(), Error> {
    Ok(audit::each_sale_fee(db, |of| {
        let right = of.sale.fee(of.rate).and_then(Cents::negated);
        let has_rate = of.fee_rate.is_none_or(|rate| rate == of.rate);
        if right != Ok(of.fee) || !has_rate {
            let rate = of.rate.0;
            report(AuditFinding {
                rule: 2,
                about: format!("ledger {}", of.id),
                is: format!("a sale of {} with a fee of {}", of.sale, of.fee),
                should: right.map_or("with a fee that can be counted".to_owned(), |right| {
                    format!("with a fee of {right}, at {rate} basis points")
                }),
            });
        }
    })?)
}

/// Checks rule 3 of the audit: the stored status and amounts of each invoice equal those computed from its payments
/// and quotes.
fn check_invoices(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
    tell: &mut ProgressSink<'_>,
) -> Result<(), Error> {
    let of = to_count(audit::counts(db)?.invoices);
    let (tick, scanned) = (audit::last_tick(db)?, chains::lagging_chains(db)?);
    let (part, mut after, mut done) = ("invoices judged", 0, 0_u64);
    loop {
        let page = audit::invoice_seqs(db, after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = *last;
        tell(Progress::Done { part, done, of });
        done = done.saturating_add(to_count(page.len()));
        for seq in page {
            let stored = invoices::by_seq(db, seq)?;
            check_invoice(db, stored, tick, &scanned, report)?;
        }
        tell(Progress::Done { part, done, of });
    }
}

fn check_invoice(
    db: &Reader<'_>,
    stored: Invoice,
    tick: Time,
    scanned: &LaggingChains,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let payments = payments::of_invoice(db, stored.seq)?;
    let quotes = quotes::of_invoice(db, stored.seq)?;
    newest_events::check_invoice(db, &stored, &payments, &quotes, report)?;
    // The expected invoice: recomputed for the time `tick`, at which a worker last updated statuses.
    let mut right = stored.clone();
    right.recompute(&payments, &quotes, scanned, tick)?;
    let deadline = stored.terms().deadline();
    let due_at = scanned.expires_at(&right.waits_for, deadline);
    let is_overdue = stored.status.is_open() && tick.since_ms(due_at) <= OVERDUE_MS_MAX;
    if is_overdue && right.status != stored.status {
        right = stored.clone();
        right.recompute(&payments, &quotes, scanned, deadline.plus_ms(-1))?;
    }
    let coin = |of: &Invoice| {
        of.coin.as_ref().map_or("no coin".to_owned(), |coin| {
            format!(
                "{} {} at {}",
                coin.asset.id,
                coin.asset.format_units(coin.amount_expected),
                coin.address
            )
        })
    };
    let received = |of: &Invoice| {
        of.amount_received
            .zip(of.coin.as_ref())
            .map_or("nothing".to_owned(), |(units, coin)| coin.asset.format_units(units))
    };
    let waiting = |of: &Invoice| format!("waiting for {:?}", of.waits_for);
    for (is, should) in [
        (waiting(&stored), waiting(&right)),
        (stored.status.to_string(), right.status.to_string()),
        (coin(&stored), coin(&right)),
        (
            format!("with {} received", received(&stored)),
            format!("with {} received", received(&right)),
        ),
    ] {
        if is != should {
            let about = format!("invoice {}", stored.id);
            report(AuditFinding {
                rule: 3,
                about,
                is,
                should: format!("{should}, by its payments and the time"),
            });
        }
    }
    Ok(())
}
