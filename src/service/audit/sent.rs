//! Compares each paid transfer with its outputs on the chain.

use super::{AuditFinding, Error, PAGE};
use crate::domain::time::Time;
use crate::domain::transfer::on_chain::ReviewKind;
use crate::domain::transfer::{SettledBy, Transfer};
use crate::service::transfers::read_transfer_facts;
use crate::store::{Reader, transfers};

/// Checks rule 2 of the audit: a transfer that was settled by its chain has confirmed outputs of at least its amount.
/// A review is also sufficient if outputs were lost.
pub(super) fn check_outputs(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let page = transfers::list_after(db, after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.seq;
        for transfer in &page {
            if transfer.sending_progress.settled_by == Some(SettledBy::Chain) {
                check_paid_transfer(db, transfer, report)?;
            }
        }
    }
}

fn check_paid_transfer(
    db: &Reader<'_>,
    of: &Transfer,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let facts = read_transfer_facts(db, Time(0), of, (true, true))?;
    let verdict = facts.verdict(of);
    let mut reviews = facts.reviews.iter();
    if verdict.is_covered || reviews.any(|review| review.kind == ReviewKind::Gone) {
        return Ok(());
    }
    report(AuditFinding {
        rule: 2,
        about: format!("{} {}", of.kind, of.id),
        is: format!("paid, with {} confirmed or seen", of.asset.format_units(verdict.amount_seen)),
        should: "paid by confirmed outputs of at least its amount, or in review".to_owned(),
    });
    Ok(())
}
