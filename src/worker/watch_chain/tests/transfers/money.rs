//! Compares the books of refunds with the coins at their destinations, unit by unit.
//!
//! Reads what is stored: what each output counts for, what is booked, and what a person was asked.

use super::RefundHistory;
use crate::domain::{SettledBy, Total, Transfer, TransferAct, TransferActKind, Units};
use crate::service::tests::live_observations;
use crate::service::{Error, Service};
use crate::store::booking::BookingSource;
use crate::store::{
    destinations, ledger, observations, transfer_acts, transfer_proposals, transfer_reviews,
    transfers, unmatched_payments,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An output at a destination: transaction and position.
type OutputId = (String, u32);
/// Outputs on the chain.
type ActiveOutputs = BTreeMap<OutputId, ActiveOutput>;

/// An output in a block of the active chain, at the destination of a refund.
struct ActiveOutput {
    to: String,
    units: Units,
    height: u32,
}

/// A refund as the file has it.
struct BookedRefund {
    transfer: Transfer,
    /// `true` if its amount is out of the balance.
    is_out: bool,
}

/// What the file says of the outputs at destinations.
#[derive(Default)]
struct Told {
    /// Refund for which each output counts.
    shares: BTreeMap<OutputId, i64>,
    /// Outputs that are proposed to any refund.
    proposed: BTreeSet<OutputId>,
    /// Refund and transaction of each review, open or decided.
    reviews: BTreeSet<(i64, String)>,
    /// Refund and transaction of each act of this kind that nothing later took back.
    entered: BTreeSet<(i64, String)>,
    dismissed: BTreeSet<(i64, String)>,
}

/// Numbers of refunds that one history ended with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RefundCounts {
    pub(super) refunds: usize,
    /// Settled by the chain, without a review.
    pub(super) paid: usize,
    /// With an open or decided review.
    pub(super) reviewed: usize,
    /// Failed or cancelled, with the amount back in the balance.
    pub(super) put_back: usize,
    /// Base units that count for refunds.
    pub(super) units: u128,
}

impl RefundCounts {
    pub(super) fn add(&mut self, more: RefundCounts) {
        self.refunds += more.refunds;
        self.paid += more.paid;
        self.reviewed += more.reviewed;
        self.put_back += more.put_back;
        self.units += more.units;
    }
}

/// Reads the refunds, and what the file says of the outputs at their destinations.
fn read_file(service: &Arc<Service>) -> (Vec<BookedRefund>, Told) {
    let read = service.read(|db| {
        let (mut refunds, mut told) = (Vec::new(), Told::default());
        for transfer in transfers::list_after(db, 0, u32::MAX)? {
            let seq = transfer.seq;
            for stored in destinations::outputs_of_transfer(db, seq)? {
                told.shares.insert((stored.output.txid, stored.output.position), seq);
            }
            for observation in transfer_proposals::observations_of(db, seq)? {
                let seen = observations::by_seq(db, observation)?.seen;
                told.proposed.insert((seen.txid, seen.position));
            }
            let reviews = transfer_reviews::of_transfer(db, seq)?.into_iter();
            told.reviews.extend(reviews.filter_map(|review| Some((seq, review.txid?))));
            for act in transfer_acts::of_transfer(db, seq)? {
                told.add_act(seq, act);
            }
            let booked = ledger::unreversed_entries(db, BookingSource::Transfer(seq))?;
            let booked: Total = booked.into_iter().map(|(_, amount)| amount).sum();
            refunds.push(BookedRefund { is_out: booked < Total::ZERO, transfer });
        }
        Ok::<_, Error>((refunds, told))
    });
    read.unwrap()
}

impl Told {
    fn add_act(&mut self, seq: i64, act: TransferAct) {
        let of = (seq, act.txid);
        match act.kind {
            TransferActKind::Entered => {
                // The newest entry takes the place of an earlier one.
                self.entered.retain(|(other, _)| *other != seq);
                self.dismissed.remove(&of);
                self.entered.insert(of);
            }
            TransferActKind::Detached => drop(self.entered.remove(&of)),
            TransferActKind::Dismissed => drop(self.dismissed.insert(of)),
        }
    }
}

impl BookedRefund {
    /// Returns the amount to send, in base units; `None` before approval.
    fn needed(&self) -> Option<u128> {
        self.transfer.terms.map(|terms| terms.amount_crypto.0)
    }

    fn is_settled_by_chain(&self) -> bool {
        self.transfer.sending_progress.settled_by == Some(SettledBy::Chain)
    }
}

impl RefundHistory {
    /// Returns the number of blocks on top of a block that make it final.
    fn final_depth(&self) -> u32 {
        let memory = self.memory.lock().unwrap();
        if self.chain().has_outputs() { u32::MAX / 2 } else { memory.final_behind }
    }

    /// Asserts that no refund is both sent and put back, or sent twice, without an open or decided review.
    pub(super) fn assert_money_matches_chain(&self) -> RefundCounts {
        let seed = self.seed;
        let (refunds, told) = read_file(&self.shop.service);
        for observed in live_observations(&self.shop.service, self.chain()) {
            let to = &observed.seen.address;
            let stray = self
                .shop
                .service
                .read(|db| Ok::<_, Error>(unmatched_payments::of_observation(db, observed.seq)?));
            let is_stray = stray.unwrap().is_some();
            let is_here = refunds.iter().any(|refund| refund.transfer.to_address == *to);
            assert!(!is_here || !is_stray, "seed {seed}: {observed:?} is a payment of nobody's");
        }
        let mut counts = RefundCounts { refunds: refunds.len(), ..RefundCounts::default() };
        let active = self.memory.lock().unwrap().active_outputs();
        let active: ActiveOutputs = active
            .into_iter()
            .filter(|(_, _, to, _, _)| {
                refunds.iter().any(|refund| refund.transfer.to_address == *to)
            })
            .map(|(txid, position, to, units, block)| {
                ((txid, position), ActiveOutput { to, units, height: block.height })
            })
            .collect();
        for refund in &refunds {
            let of_refund = |review: &&(i64, String)| review.0 == refund.transfer.seq;
            let has_review = told.reviews.iter().any(|review| of_refund(&review));
            let own =
                active.iter().filter(|(id, _)| told.shares.get(*id) == Some(&refund.transfer.seq));
            let got: u128 = own.map(|(_, output)| output.units.0).sum();
            let Some(needed) = refund.needed().filter(|_| !refund.transfer.status.is_open()) else {
                continue;
            };
            counts.reviewed += usize::from(has_review);
            counts.put_back += usize::from(!refund.is_out);
            if has_review {
                continue;
            }
            let at =
                format!("seed {seed}: refund {} needs {needed} and got {got}", refund.transfer.seq);
            if refund.is_out && refund.is_settled_by_chain() {
                counts.paid += 1;
                counts.units += got;
                assert!(got >= needed, "{at}: it is paid");
                assert!(got <= needed + needed / 100, "{at}: it is paid twice");
            }
            assert!(refund.is_out || got == 0, "{at}: it is sent and put back");
        }
        for (id, output) in &active {
            self.assert_explained(&told, &refunds, &active, id, output);
        }
        counts
    }

    /// Asserts that an output which was entered for a refund, or has exactly the amount of one that was approved before,
    /// counts for a refund, or that a person was asked about it.
    fn assert_explained(
        &self,
        told: &Told,
        refunds: &[BookedRefund],
        active: &ActiveOutputs,
        id: &OutputId,
        output: &ActiveOutput,
    ) {
        let units = output.units.0;
        let here = || refunds.iter().filter(|refund| refund.transfer.to_address == output.to);
        let asked = |refund: &BookedRefund| {
            let about = (refund.transfer.seq, id.0.clone());
            told.reviews.contains(&about) || told.dismissed.contains(&about)
        };
        if told.shares.contains_key(id) || told.proposed.contains(id) || here().any(asked) {
            return;
        }
        for refund in here().filter(|refund| !refund.transfer.status.is_open()) {
            let is_entered = told.entered.contains(&(refund.transfer.seq, id.0.clone()));
            // A payment that is final ends the watch of its destination for the refund.
            let paid =
                active.iter().filter(|(id, _)| told.shares.get(*id) == Some(&refund.transfer.seq));
            let paid_at = paid.map(|(_, paying)| paying.height).max();
            let is_watched = !refund.is_settled_by_chain()
                || paid_at.is_none_or(|paid_at| output.height <= paid_at + self.final_depth());
            let is_after = refund
                .transfer
                .sending_progress
                .approved_height
                .is_some_and(|approved| output.height > approved)
                && is_watched;
            let is_exact = refund.needed() == Some(units) && is_after;
            let seed = self.seed;
            let is_enough = refund.needed().is_some_and(|needed| units >= needed);
            let is_payment = is_exact || is_entered && is_enough;
            assert!(
                !is_payment,
                "seed {seed}: {id:?} pays {} to refund {} and nobody was asked",
                units, refund.transfer.seq
            );
        }
    }
}
