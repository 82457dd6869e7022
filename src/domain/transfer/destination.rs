//! Decides what the transfers to one destination got: their outputs, proposals, reviews, and settlement.
//!
//! Every event ends in this function: a block, a reorg, a replacement, an act of a person, an answer of the signer, a
//! restore.
//!
//! Invariant: the result depends on the facts and on the order of the acts, not on the order in which the facts were
//! told.

pub mod checks;
mod claimant;
pub mod facts;
mod findings;
pub mod keeping;
mod proposals;
mod sharing;
#[cfg(test)]
mod tests;

use super::on_chain::ReviewKind;
use super::{SendingState, SettledBy, TransferStatus};
use crate::domain::money::coin::Units;
use facts::{BookState, DestinationFacts, DestinationOutput, DestinationTransfer};
pub use findings::ReviewFinding;
use findings::find_reviews;
use proposals::{find_proposals, has_exact_proposal};
pub use sharing::CurrentTransaction;
pub use sharing::sum as sum_of_outputs;
use sharing::{Sharing, is_covered, share_out, sum};

/// What the transfers to a destination got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationOutcome {
    /// For each output, `seq` of the transfer for which it counts, or at which it is under review.
    pub shares: Vec<Option<i64>>,
    /// For each output, `seq` of the transfer that it settled.
    pub settled: Vec<Option<i64>>,
    /// Outcome of each transfer, in the order of the facts.
    pub transfers: Vec<TransferOutcome>,
}

/// What one transfer got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferOutcome {
    /// Transaction of the transfer: entered, found on the chain, or following a replaced one.
    pub transaction: Option<CurrentTransaction>,
    /// Indexes of the outputs that a person may attach or dismiss, newest first.
    pub proposals: Vec<usize>,
    /// `true` if an output of exactly the amount waits for a decision. The signer must not send the transfer.
    pub has_exact_proposal: bool,
    /// Reviews that are open.
    pub reviews: Vec<ReviewFinding>,
    /// Sum of the outputs that count for the transfer, without dropped ones.
    pub amount_seen: Units,
    /// `true` if the transaction was in a block before the transfer was requested. It settles nothing.
    pub is_before_request: bool,
    /// `true` if the transfer is to be settled now: it is in `processing`, and confirmed outputs reach its amount.
    pub is_settled: bool,
    /// `true` if nothing that happens at the destination changes the transfer any more.
    pub is_frozen: bool,
}

/// Assesses all transfers to a destination.
pub fn assess_destination(facts: &DestinationFacts) -> DestinationOutcome {
    let sharing = share_out(facts);
    let (reviews, claimed) = find_reviews(&sharing);
    let proposals = find_proposals(&sharing, &reviews);
    let each = facts.transfers.iter().zip(&sharing.transactions).zip(reviews.iter().zip(proposals));
    let transfers = each.map(|((one, transaction), (reviews, proposals))| {
        let own = || sharing.outputs_of(one.seq());
        let is_before_request =
            one.books() == BookState::Open && own().any(|output| one.is_before_request(output));
        TransferOutcome {
            transaction: transaction.clone(),
            has_exact_proposal: has_exact_proposal(&sharing, one, &proposals),
            amount_seen: sum(own().filter(|output| output.may_count())),
            is_settled: !is_before_request && is_settled(&sharing, one),
            is_frozen: reviews.is_empty() && is_frozen(&sharing, one),
            reviews: reviews.clone(),
            proposals,
            is_before_request,
        }
    });
    let transfers: Vec<TransferOutcome> = transfers.collect();
    let shares = sharing.shares.iter().zip(claimed).map(|(share, claimed)| share.or(claimed));
    DestinationOutcome {
        shares: shares.collect(),
        settled: settled_outputs(&sharing, &transfers),
        transfers,
    }
}

/// Returns `true` if a transfer is in `processing`, its signer does not run, and confirmed outputs reach its amount.
fn is_settled(sharing: &Sharing<'_>, one: &DestinationTransfer) -> bool {
    one.transfer.status == TransferStatus::Processing
        && one.transfer.sending != Some(SendingState::Running)
        && is_covered(sharing, one)
}

/// Returns the transfer that each output has settled. A confirmed output stays with its transfer once confirmed outputs
/// cover a transfer that is settled or booked out.
fn settled_outputs(sharing: &Sharing<'_>, outcomes: &[TransferOutcome]) -> Vec<Option<i64>> {
    let both = sharing.facts.transfers.iter().zip(outcomes);
    let covered = both.filter(|(one, outcome)| {
        outcome.is_settled || one.books() == BookState::Out && is_covered(sharing, one)
    });
    let covered: Vec<i64> = covered.map(|(one, _)| one.seq()).collect();
    let both = sharing.facts.outputs.iter().zip(&sharing.shares);
    both.map(|(output, share)| {
        output.settled.or(share.filter(|seq| output.state.is_confirmed() && covered.contains(seq)))
    })
    .collect()
}

/// Returns `true` if the destination is not watched for a transfer any more: it ended long ago, or its payment cannot be
/// undone by a reorg.
fn is_frozen(sharing: &Sharing<'_>, one: &DestinationTransfer) -> bool {
    let facts = sharing.facts;
    let mut own = sharing.outputs_of(one.seq());
    let ended = one.transfer.finalized_at;
    let is_over = ended.is_none_or(|ended| facts.now.since_ms(ended) > facts::WATCHED_AFTER_END_MS);
    let is_final =
        |output: &DestinationOutput| output.height.is_some_and(|at| at <= facts.final_height);
    // A second payment is reviewed once it is confirmed and fits no open transfer.
    let mut awaited = sharing.free_outputs().map(|(_, output)| output);
    let has_second_payment = awaited.any(|output| {
        output.is_mined()
            && output.asset == one.transfer.asset
            && !one.has_resolved(ReviewKind::Overpaid, Some(&output.txid))
            && !one.has_dismissed(&output.txid)
            && (one.is_exact(output) && one.is_after_approval(output)
                || sharing.is_related(one, output))
    });
    match one.books() {
        BookState::Unsent => !one.transfer.status.is_open(),
        BookState::Open => false,
        BookState::Back => is_over,
        BookState::Out if one.transfer.status != TransferStatus::Paid => is_over,
        BookState::Out => {
            let is_chains = one.transfer.sending_progress.settled_by == Some(SettledBy::Chain);
            is_over && !is_chains || own.any(is_final) && !has_second_payment
        }
    }
}
