//! What the assessment tells of the transfers of a [`World`], and the reviews that follow from it.

use super::world::World;
use crate::domain::transfer::destination::TransferOutcome;
use crate::domain::transfer::destination::facts::{BookState, DestinationTransfer, ReviewRecord};
use crate::domain::transfer::on_chain::{ReviewDecision, ReviewKind};

impl World {
    /// Returns where the amount of a transfer is booked.
    pub fn books(&self, at: usize) -> BookState {
        self.facts.transfers[at].books()
    }

    /// Returns `kind txid` of each open review of a transfer.
    pub fn open_reviews(&self, at: usize) -> Vec<String> {
        let open = self.outcome.transfers[at].reviews.iter();
        let text = |txid: &Option<String>| txid.clone().unwrap_or_default();
        let mut open: Vec<String> =
            open.map(|open| format!("{} {}", open.kind, text(&open.txid))).collect();
        open.sort_unstable();
        open
    }

    /// Returns the ids of the transactions that are proposed for a transfer.
    pub fn proposals(&self, at: usize) -> Vec<String> {
        let proposals = self.outcome.transfers[at].proposals.iter();
        let mut txids: Vec<String> =
            proposals.map(|place| self.facts.outputs[*place].txid.clone()).collect();
        txids.sort_unstable();
        txids
    }

    /// Returns `txid:position` of the outputs that count for a transfer.
    pub fn outputs(&self, at: usize) -> Vec<String> {
        let seq = self.facts.transfers[at].seq();
        let both = self.facts.outputs.iter().zip(&self.outcome.shares);
        let own = both.filter(|(_, share)| **share == Some(seq));
        own.map(|(output, _)| format!("{}:{}", output.txid, output.position)).collect()
    }
}

/// Opens and clears the reviews of a transfer as they follow from the assessment.
pub(super) fn save_reviews(one: &mut DestinationTransfer, outcome: &TransferOutcome) {
    let is_same = |review: &ReviewRecord, kind: ReviewKind, txid: &Option<String>| {
        review.kind == kind && review.txid == *txid && review.decision.is_none()
    };
    for review in &mut one.reviews {
        let mut found = outcome.reviews.iter();
        if !found.any(|finding| is_same(review, finding.kind, &finding.txid)) {
            review.decision = review.decision.or(Some(ReviewDecision::Cleared));
        }
    }
    for finding in &outcome.reviews {
        if !one.reviews.iter().any(|review| is_same(review, finding.kind, &finding.txid)) {
            one.reviews.push(ReviewRecord {
                kind: finding.kind,
                txid: finding.txid.clone(),
                decision: None,
            });
        }
    }
}
