//! Assesses each destination again, and compares the outcome with what is stored.

use super::{AuditFinding, Error, PAGE};
use crate::domain::transfer::destination::{assess_destination, sum_of_outputs};
use crate::domain::{
    DestinationTransfer, ReviewKind, SettledBy, Time, Transfer, TransferOutcome, Units,
};
use crate::service::transfers::loading::{LoadedDestination, load_destination};
use crate::service::transfers::newest_proposals;
use crate::store::{Reader, destinations, transfer_proposals, transfer_reviews, transfers};
use std::collections::BTreeSet;

/// Checks rule 2 of the audit: outputs, transactions, proposals and reviews of transfers are those that follow from the
/// facts and the acts, and each covered transfer is paid. `tick` is the time of the last tick.
pub(super) fn check_destinations(
    db: &Reader<'_>,
    tick: Time,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let page = destinations::list_after(db, after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.seq;
        for destination in page {
            let loaded = load_destination(db, tick, destination)?;
            check_destination(db, &loaded, report)?;
        }
    }
}

fn check_destination(
    db: &Reader<'_>,
    loaded: &LoadedDestination,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let outcome = assess_destination(&loaded.facts);
    let stored = loaded.facts.outputs.iter().zip(&loaded.shares);
    let computed = outcome.shares.iter().zip(&outcome.settled);
    for ((output, stored), (share, settled)) in stored.zip(computed) {
        if (stored, &output.settled) != (share, settled) {
            report(AuditFinding {
                rule: 2,
                about: format!("observation {} of {}", output.observation, output.txid),
                is: format!("counted for transfer {stored:?}, and settled {:?}", output.settled),
                should: format!("counted for transfer {share:?}, and settled {settled:?}"),
            });
        }
    }
    let each = loaded.facts.transfers.iter().zip(&outcome.transfers).enumerate();
    for (at, (one, got)) in each {
        let stored = stored_outcome(db, loaded, at, one)?;
        let computed = computed_outcome(loaded, one, got);
        if stored != computed {
            report(finding(&one.transfer, stored, computed));
        }
    }
    Ok(())
}

fn finding(of: &Transfer, is: String, should: String) -> AuditFinding {
    AuditFinding { rule: 2, about: format!("{} {}", of.kind, of.id), is, should }
}

fn stored_outcome(
    db: &Reader<'_>,
    loaded: &LoadedDestination,
    at: usize,
    one: &DestinationTransfer,
) -> Result<String, Error> {
    let reviews = loaded.reviews.get(at).into_iter().flatten();
    let open = reviews.filter(|review| review.ended_at.is_none());
    let open = open.map(|review| (review.kind.as_str(), review.txid.clone())).collect();
    let proposals = transfer_proposals::observations_of(db, one.seq())?.into_iter().collect();
    let transfer = &one.transfer;
    Ok(describe(transfer.txid.as_deref(), transfer.has_exact_proposal, false, &proposals, &open))
}

fn computed_outcome(
    loaded: &LoadedDestination,
    one: &DestinationTransfer,
    got: &TransferOutcome,
) -> String {
    let open = got.reviews.iter().map(|review| (review.kind.as_str(), review.txid.clone()));
    let txid = got.transaction.as_ref().map(|(txid, _)| txid.as_str());
    let proposals = newest_proposals(&loaded.facts, one, got);
    describe(txid, got.has_exact_proposal, got.is_settled, &proposals, &open.collect())
}

fn describe(
    txid: Option<&str>,
    has_exact_proposal: bool,
    is_covered: bool,
    proposals: &BTreeSet<i64>,
    open: &BTreeSet<(&str, Option<String>)>,
) -> String {
    let txid = txid.unwrap_or("none");
    let covered = if is_covered { ", covered but not paid" } else { "" };
    let exact = if has_exact_proposal { ", one exact" } else { "" };
    format!("transaction {txid}{covered}, proposals {proposals:?}{exact}, open reviews {open:?}")
}

/// Checks rule 2 of the audit: a transfer that was settled by its chain has confirmed outputs of at least its amount.
/// A review is also sufficient if outputs were lost.
pub(super) fn check_paid_transfers(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    for_each_transfer(db, |transfer| match transfer.sending_progress.settled_by {
        Some(SettledBy::Chain) => check_paid_transfer(db, transfer, report),
        Some(SettledBy::Person | SettledBy::Unchecked) | None => Ok(()),
    })
}

/// Passes each transfer of all accounts to `check`, in the order of insertion.
pub(super) fn for_each_transfer(
    db: &Reader<'_>,
    mut check: impl FnMut(&Transfer) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let page = transfers::list_after(db, after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.seq;
        page.iter().try_for_each(&mut check)?;
    }
}

fn check_paid_transfer(
    db: &Reader<'_>,
    of: &Transfer,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let outputs = destinations::outputs_of_transfer(db, of.seq)?;
    let confirmed = outputs.iter().map(|one| &one.output);
    let confirmed = sum_of_outputs(confirmed.filter(|output| output.state.is_confirmed()));
    let needed = of.terms.map_or(Units::ZERO, |terms| terms.amount_crypto);
    let reviews = transfer_reviews::of_transfer(db, of.seq)?;
    if confirmed >= needed || reviews.iter().any(|review| review.kind == ReviewKind::Gone) {
        return Ok(());
    }
    let is = format!("paid, with {} confirmed", of.asset.format_units(confirmed));
    let should = "paid by confirmed outputs of at least its amount, or in review".to_owned();
    report(finding(of, is, should));
    Ok(())
}
