//! Finds the outputs that a person may attach to a transfer, or dismiss.

use super::facts::{BookState, DestinationOutput, DestinationTransfer};
use super::findings::ReviewFinding;
use super::sharing::Sharing;
use crate::domain::transfer::TransferStatus;
use crate::domain::transfer::on_chain::ReviewKind;
use std::cmp::Reverse;

impl Sharing<'_> {
    /// Returns `true` if the transaction of an output was entered for a transfer or settled it, or took the place of such
    /// a transaction and pays at least half of the amount.
    pub(super) fn is_related(&self, one: &DestinationTransfer, output: &DestinationOutput) -> bool {
        let own = self.facts.transactions_of(one);
        let is_enough = one.needed().is_some_and(|needed| output.amount.0 >= needed.0.div_ceil(2));
        own.iter().any(|txid| {
            *txid == output.txid || is_enough && self.is_same_or_replaces(txid, &output.txid)
        })
    }

    /// Returns `true` if a person may attach a free output to a transfer.
    pub(super) fn is_proposed(
        &self,
        one: &DestinationTransfer,
        output: &DestinationOutput,
    ) -> bool {
        output.asset == one.transfer.asset
            && output.may_count()
            && !one.has_dismissed(&output.txid)
            && (one.is_plausible(output) && one.is_in_time(output) || self.is_related(one, output))
    }
}

/// Returns the indexes of the free outputs that a person may attach to each transfer, newest first.
///
/// They are proposed to open transfers, to those that ended unpaid, and to those whose payment is gone.
pub(super) fn find_proposals(
    sharing: &Sharing<'_>,
    reviews: &[Vec<ReviewFinding>],
) -> Vec<Vec<usize>> {
    let mut free: Vec<(usize, &DestinationOutput)> = sharing.free_outputs().collect();
    free.sort_by_key(|(_, output)| {
        (Reverse(output.seen_at), output.txid.as_str(), output.position)
    });
    let both = sharing.facts.transfers.iter().zip(reviews);
    both.map(|(one, reviews)| {
        let is_gone = reviews.iter().any(|review| review.kind == ReviewKind::Gone);
        let may_attach = match one.books() {
            BookState::Open | BookState::Back => true,
            BookState::Out => is_gone,
            BookState::Unsent => false,
        };
        let proposed =
            free.iter().filter(|(_, output)| may_attach && sharing.is_proposed(one, output));
        proposed.map(|(place, _)| *place).collect()
    })
    .collect()
}

/// Returns `true` if an output of exactly the amount waits for a decision on an open transfer, so that the signer must
/// not send it.
pub(super) fn has_exact_proposal(
    sharing: &Sharing<'_>,
    one: &DestinationTransfer,
    proposals: &[usize],
) -> bool {
    let outputs = proposals.iter().filter_map(|place| sharing.facts.outputs.get(*place));
    let is_unsent =
        matches!(one.transfer.status, TransferStatus::Approved | TransferStatus::Processing);
    is_unsent && outputs.into_iter().any(|output| one.is_exact(output) && one.is_in_time(output))
}
