//! Finds the reviews of transfers, and the outputs that wait for a person's decision.
//!
//! Invariant: an output is in the reviews of at most one transfer.

use super::facts::{BookState, DestinationOutput, DestinationTransfer, Presence};
use super::sharing::{Sharing, is_covered, sum};
use crate::domain::money::coin::Units;
use crate::domain::transfer::on_chain::ReviewKind;
use crate::domain::transfer::{SettledBy, TransferStatus};
use std::cmp::Reverse;

/// An excess of more than amount / `TOO_MUCH_PART` needs a review.
const TOO_MUCH_PART: u128 = 100;

/// A review that is open by the facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewFinding {
    /// Kind of the finding.
    pub kind: ReviewKind,
    /// Transaction that the finding is about; `None` for findings about no transaction.
    pub txid: Option<String>,
}

/// Reviews of each transfer, in the order of the transfers.
pub(super) struct Findings<'a, 's> {
    sharing: &'s Sharing<'a>,
    reviews: Vec<Vec<ReviewFinding>>,
    /// For each output that arrived at a transfer after its end, or was paid a second time, `seq` of the transfer.
    claimed: Vec<Option<i64>>,
}

/// Returns the open reviews of each transfer, and the `seq` of the transfer that each arrived output belongs to.
pub(super) fn find_reviews(sharing: &Sharing<'_>) -> (Vec<Vec<ReviewFinding>>, Vec<Option<i64>>) {
    let transfers = &sharing.facts.transfers;
    let mut findings = Findings {
        sharing,
        reviews: vec![Vec::new(); transfers.len()],
        claimed: vec![None; sharing.facts.outputs.len()],
    };
    for (at, one) in transfers.iter().enumerate() {
        match one.books() {
            BookState::Open => findings.add_unread(at, one),
            BookState::Back => {
                findings.add_unread(at, one);
                findings.add_own_arrivals(at, one);
            }
            BookState::Out => {
                findings.add_gone(at, one);
                findings.add_own_excess(at, one);
            }
            BookState::Unsent => {}
        }
    }
    findings.claim_related_outputs();
    findings.claim_exact_outputs();
    let Findings { reviews, claimed, .. } = findings;
    (reviews, claimed)
}

impl Findings<'_, '_> {
    /// Adds an open review, unless a person ended the same one with a reason.
    fn add(&mut self, at: usize, kind: ReviewKind, txid: Option<&str>) {
        let Some(one) = self.sharing.facts.transfers.get(at) else {
            return;
        };
        let finding = ReviewFinding { kind, txid: txid.map(str::to_owned) };
        if let Some(reviews) = self.reviews.get_mut(at)
            && !reviews.contains(&finding)
            && !one.has_resolved(kind, txid)
        {
            reviews.push(finding);
        }
    }

    /// Adds the finding that some blocks since the approval cannot be read.
    fn add_unread(&mut self, at: usize, one: &DestinationTransfer) {
        if one.transfer.sending_progress.has_unread_blocks {
            self.add(at, ReviewKind::BeyondReach, None);
        }
    }

    /// Adds the transactions of a transfer that are in a block although the amount is back in the balance.
    fn add_own_arrivals(&mut self, at: usize, one: &DestinationTransfer) {
        for output in self.sharing.outputs_of(one.seq()).filter(|output| output.is_mined()) {
            self.add(at, ReviewKind::Arrived, Some(&output.txid));
        }
    }

    /// Adds the finding that the payment of a transfer is on the chain no more, although the amount is booked out.
    fn add_gone(&mut self, at: usize, one: &DestinationTransfer) {
        let own = || self.sharing.outputs_of(one.seq());
        let booked_out = |output: &&DestinationOutput| one.is_booked_out_for(&output.txid);
        let is_there = own().filter(booked_out).any(DestinationOutput::is_mined);
        let is_chains = one.transfer.sending_progress.settled_by == Some(SettledBy::Chain)
            || one.transfer.status != TransferStatus::Paid;
        if is_covered(self.sharing, one) || is_there || !is_chains {
            return;
        }
        let lost = self.sharing.facts.settled_outputs(one.seq());
        let lost = lost.max_by_key(|output| output.presence());
        if let Some(lost) = lost.map(|output| output.txid.clone()) {
            self.add(at, ReviewKind::Gone, Some(&lost));
        }
    }

    /// Adds the finding that the confirmed outputs of a transfer are over 1 % more than its amount.
    fn add_own_excess(&mut self, at: usize, one: &DestinationTransfer) {
        let own =
            || self.sharing.outputs_of(one.seq()).filter(|output| output.state.is_confirmed());
        let is_too_much = one.needed().is_some_and(|needed| {
            let more = sum(own()).minus(needed).unwrap_or(Units::ZERO);
            more.0 > needed.0 / TOO_MUCH_PART
        });
        if is_too_much && let Some(last) = own().last().map(|output| output.txid.clone()) {
            self.add(at, ReviewKind::Overpaid, Some(&last));
        }
    }

    /// Returns the outputs that no transfer and no review has, the most certain and oldest first.
    fn unclaimed(&self) -> Vec<(usize, DestinationOutput)> {
        let free = self.sharing.free_outputs();
        let is_free = |place: usize| self.claimed.get(place).is_some_and(Option::is_none);
        let free = free.filter(|(place, _)| is_free(*place));
        let mut free: Vec<_> = free.map(|(place, output)| (place, output.clone())).collect();
        free.sort_by_key(|(_, output)| {
            (Reverse(output.presence()), output.seen_at, output.txid.clone(), output.position)
        });
        free
    }

    /// Returns the kind of the review that a free output opens at a transfer that has ended; `None` if it opens none
    /// yet. A late arrival counts from its first block, a second payment once it is confirmed.
    fn kind_at_end(one: &DestinationTransfer, output: &DestinationOutput) -> Option<ReviewKind> {
        let (kind, from) = match one.books() {
            BookState::Back => (ReviewKind::Arrived, Presence::Mined),
            BookState::Out => (ReviewKind::Overpaid, Presence::Confirmed),
            BookState::Open | BookState::Unsent => return None,
        };
        let is_new = !one.has_resolved(kind, Some(&output.txid));
        (is_new && output.presence() >= from).then_some(kind)
    }

    /// Opens reviews of outputs whose transaction was entered for a transfer, or replaced one that was, and that fit no
    /// open transfer.
    fn claim_related_outputs(&mut self) {
        for (place, output) in self.unclaimed() {
            let ended = self.sharing.facts.transfers.iter().enumerate().filter_map(|(at, one)| {
                let kind = Self::kind_at_end(one, &output)?;
                let is_own = one.transfer.asset == output.asset
                    && !one.has_dismissed(&output.txid)
                    && self.sharing.is_related(one, &output);
                is_own.then_some((at, one.seq(), kind))
            });
            let first = ended.min_by_key(|(at, ..)| *at);
            if let Some((at, seq, kind)) = first.filter(|_| !self.fits_open_transfer(&output)) {
                self.claim(place, at, seq, kind, &output.txid);
            }
        }
    }

    /// Opens reviews of outputs of exactly the amount of a transfer that has ended, if they fit no open transfer. Of
    /// several transfers, the one with the fewest such outputs gets it, then the older request.
    fn claim_exact_outputs(&mut self) {
        for (place, output) in self.unclaimed() {
            let count = |seq: i64| {
                let claimed = self.claimed.iter().filter(|of| **of == Some(seq));
                claimed.count().saturating_add(self.sharing.outputs_of(seq).count())
            };
            let ended = self.sharing.facts.transfers.iter().enumerate().filter_map(|(at, one)| {
                let kind = Self::kind_at_end(one, &output)?;
                let is_late = match kind {
                    ReviewKind::Overpaid => {
                        one.is_after_approval(&output) || one.is_mined_after_approval(&output)
                    }
                    ReviewKind::Arrived | ReviewKind::Gone | ReviewKind::BeyondReach => {
                        one.is_after_approval(&output)
                    }
                };
                let is_own = one.is_exact(&output) && !one.has_dismissed(&output.txid) && is_late;
                is_own.then_some((kind, count(one.seq()), at, one.seq()))
            });
            // A transfer whose amount is back in the balance comes before one that is paid.
            let first = ended
                .min_by_key(|(kind, count, at, _)| (*kind != ReviewKind::Arrived, *count, *at));
            let first = first.filter(|_| !self.fits_open_transfer(&output));
            if let Some((kind, _, at, seq)) = first {
                self.claim(place, at, seq, kind, &output.txid);
            }
        }
    }

    /// Opens a review of an output at a transfer, which no other transfer can claim then.
    fn claim(&mut self, place: usize, at: usize, seq: i64, kind: ReviewKind, txid: &str) {
        if let Some(claimed) = self.claimed.get_mut(place) {
            *claimed = Some(seq);
        }
        self.add(at, kind, Some(txid));
    }

    /// Returns `true` if an open transfer may still get this output.
    fn fits_open_transfer(&self, output: &DestinationOutput) -> bool {
        let mut open = self.sharing.facts.transfers.iter();
        open.any(|one| one.books() == BookState::Open && self.sharing.is_proposed(one, output))
    }
}
