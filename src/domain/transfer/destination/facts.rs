//! The input of the assessment: what the chain shows at a destination, and what people and signers did.

use crate::domain::asset::Asset;
use crate::domain::money::coin::Units;
use crate::domain::observation::InputSource;
use crate::domain::payment::PaymentState;
use crate::domain::time::{DAY_MS, HOUR_MS, SECOND_MS, Time};
use crate::domain::transfer::act::{TransferAct, TransferActKind};
use crate::domain::transfer::on_chain::{
    AttachedState, AttachedTransaction, ReviewDecision, ReviewKind,
};
use crate::domain::transfer::{SendingState, Transfer, TransferStatus, TxidSource};

/// Time for which a destination is watched after the end of its transfer, in milliseconds.
pub const WATCHED_AFTER_END_MS: i64 = 30 * DAY_MS;

/// Largest error of the time in a block's header, in milliseconds. Nodes of bitcoin refuse a header that is further ahead
/// (`MAX_FUTURE_BLOCK_TIME`).
const HEADER_TIME_ERROR_MS_MAX: i64 = 2 * HOUR_MS;

/// An output to a watched destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationOutput {
    /// `seq` of the output's observation.
    pub observation: i64,
    /// Id of the transaction on the chain.
    pub txid: String,
    /// Position in the transaction: output index or log index.
    pub position: u32,
    /// Coin of the output.
    pub asset: &'static Asset,
    /// Amount of the output.
    pub amount: Units,
    /// State of the output on its chain.
    pub state: PaymentState,
    /// Height of the output's block; `None` if the output is in no block.
    pub height: Option<u32>,
    /// `true` if the transaction is neither in a block nor in the mempool.
    pub has_vanished: bool,
    /// Time of the first sighting or of the block, whichever is earlier.
    pub seen_at: Time,
    /// Sources of the money, as far as they are known.
    pub spends: Vec<InputSource>,
    /// `seq` of the transfer that the output settled or whose amount was booked for it. The output stays with it.
    pub settled: Option<i64>,
}

/// How certain a transaction or an output is, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    /// Replaced, double-spent or gone for long.
    Dropped,
    /// In no block and in no mempool.
    Absent,
    /// In the mempool.
    Mempool,
    /// In a block.
    Mined,
    /// Final by the confirmation rule of the coin.
    Confirmed,
}

impl DestinationOutput {
    /// Returns how certain the output is.
    pub fn presence(&self) -> Presence {
        match self.state {
            PaymentState::Dropped => Presence::Dropped,
            PaymentState::Confirmed => Presence::Confirmed,
            PaymentState::Seen if self.height.is_some() => Presence::Mined,
            PaymentState::Seen if self.has_vanished => Presence::Absent,
            PaymentState::Seen => Presence::Mempool,
        }
    }

    /// Returns `true` if the output is not dropped, so that it may count for a transfer.
    pub fn may_count(&self) -> bool {
        self.state != PaymentState::Dropped
    }

    /// Returns `true` if the output is in a block of the active chain.
    pub fn is_mined(&self) -> bool {
        self.presence() >= Presence::Mined
    }

    /// Returns `true` if the output was first seen at `at` or later, when the block at `height` was the last one that was
    /// read. Nodes report times in full seconds, and the time in a header may be wrong.
    fn is_since(&self, at: Time, height: Option<u32>) -> bool {
        let heights = height.zip(self.height);
        if heights.is_some_and(|(read, height)| height <= read) {
            // Such a block may have come later, by a reorg.
            return self.seen_at >= at;
        }
        let is_later_block = heights.is_some();
        self.seen_at >= start_of_second(at)
            || is_later_block && self.seen_at >= at.plus_ms(-HEADER_TIME_ERROR_MS_MAX)
    }
}

/// A review of a transfer, as far as it decides something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewRecord {
    /// Kind of the finding.
    pub kind: ReviewKind,
    /// Transaction that the finding is about; `None` for findings about no transaction.
    pub txid: Option<String>,
    /// Decision that ended the review; `None` while it is open.
    pub decision: Option<ReviewDecision>,
}

/// Books of a transfer: whether its amount is in or out of the balance, and whether outputs may still count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BookState {
    /// Never approved, and not restored from an older copy: no output can be of this transfer.
    Unsent,
    /// Open: the amount is reserved.
    Open,
    /// The amount is booked out: paid, or booked out after the end.
    Out,
    /// The amount is back in the balance, and outputs may still arrive.
    Back,
}

/// A transfer with its recorded acts and reviews, oldest first.
#[derive(Clone, Debug)]
pub struct DestinationTransfer {
    /// The transfer.
    pub transfer: Transfer,
    /// Acts on its transactions, oldest first.
    pub acts: Vec<TransferAct>,
    /// Its reviews, oldest first.
    pub reviews: Vec<ReviewRecord>,
}

impl DestinationTransfer {
    /// Returns `seq` of the transfer.
    pub fn seq(&self) -> i64 {
        self.transfer.seq
    }

    /// Returns the amount to send; `None` before approval.
    pub fn needed(&self) -> Option<Units> {
        self.transfer.terms.map(|terms| terms.amount_crypto)
    }

    /// Returns `true` if a restore held the transfer, so that it may have been sent after the copy was made.
    fn may_have_been_sent(&self) -> bool {
        self.transfer.is_on_hold() || self.transfer.released_at.is_some()
    }

    /// Returns `true` if an output of any amount since the request may be the payment of this transfer. A restored copy
    /// does not know the terms under which it may have been sent.
    pub fn may_have_other_terms(&self) -> bool {
        let approved = self.transfer.approved_at;
        let released = self.transfer.released_at;
        approved.is_none() || released.is_some_and(|released| approved >= Some(released))
    }

    /// Returns the act that entered the current transaction; `None` if none is entered.
    pub fn entry(&self) -> Option<&TransferAct> {
        let mut entry = None;
        for act in &self.acts {
            match act.kind {
                TransferActKind::Entered => entry = Some(act),
                TransferActKind::Detached => entry = None,
                TransferActKind::Dismissed => {}
            }
        }
        entry
    }

    /// Returns `true` if a person or the signer ever entered this transaction.
    pub fn was_entered(&self, txid: &str) -> bool {
        let mut entered = self.acts.iter().filter(|act| act.kind == TransferActKind::Entered);
        entered.any(|act| act.txid == txid)
    }

    /// Returns `true` if a person dismissed this transaction, and nobody entered it later.
    pub fn has_dismissed(&self, txid: &str) -> bool {
        let last = self
            .acts
            .iter()
            .rev()
            .find(|act| act.txid == txid && act.kind != TransferActKind::Detached);
        last.is_some_and(|act| act.kind == TransferActKind::Dismissed)
    }

    fn count_decisions(&self, kind: ReviewKind, decision: ReviewDecision) -> usize {
        let is_such =
            |review: &&ReviewRecord| review.kind == kind && review.decision == Some(decision);
        self.reviews.iter().filter(is_such).count()
    }

    /// Returns `true` if a person ended a review of this kind about this transaction with a reason.
    pub fn has_resolved(&self, kind: ReviewKind, txid: Option<&str>) -> bool {
        self.reviews.iter().any(|review| {
            review.kind == kind
                && review.txid.as_deref() == txid
                && review.decision == Some(ReviewDecision::Resolved)
        })
    }

    /// Returns where the amount is booked. An adjustment of a review moves it.
    pub fn books(&self) -> BookState {
        let adjusted = |kind| self.count_decisions(kind, ReviewDecision::Adjusted);
        let (back, out) = (adjusted(ReviewKind::Gone), adjusted(ReviewKind::Arrived));
        match self.transfer.status {
            TransferStatus::Requested if self.may_have_been_sent() => BookState::Open,
            TransferStatus::Requested | TransferStatus::Rejected => BookState::Unsent,
            TransferStatus::Approved | TransferStatus::Processing => BookState::Open,
            TransferStatus::Paid if back > out => BookState::Back,
            TransferStatus::Paid => BookState::Out,
            TransferStatus::Failed | TransferStatus::Cancelled if out > back => BookState::Out,
            TransferStatus::Failed | TransferStatus::Cancelled => match self.transfer.approved_at {
                Some(_) => BookState::Back,
                None => BookState::Unsent,
            },
        }
    }

    /// Returns `true` if the amount was booked out for this transaction, which arrived after the transfer had ended.
    pub fn is_booked_out_for(&self, txid: &str) -> bool {
        let last = self.reviews.iter().rev().find(|review| {
            review.txid.as_deref() == Some(txid)
                && review.decision == Some(ReviewDecision::Adjusted)
        });
        last.is_some_and(|review| review.kind == ReviewKind::Arrived)
    }

    /// Returns `true` if an output may be the payment of this transfer since its approval.
    pub fn is_after_approval(&self, output: &DestinationOutput) -> bool {
        let height = self.transfer.sending_progress.approved_height;
        self.transfer.approved_at.is_some_and(|at| output.is_since(at, height))
    }

    /// Returns `true` if an output is in a block that was mined after the approval.
    pub fn is_mined_after_approval(&self, output: &DestinationOutput) -> bool {
        let approved = self.transfer.sending_progress.approved_height;
        approved.zip(output.height).is_some_and(|(approved, height)| height > approved)
    }

    /// Returns `true` if an output may be the payment of this transfer by its time: after the approval, or after the
    /// request of a transfer that may have been sent under other terms.
    pub fn is_in_time(&self, output: &DestinationOutput) -> bool {
        if self.may_have_other_terms() {
            let of = &self.transfer;
            return output.is_since(of.requested_at, of.requested_height);
        }
        self.is_after_approval(output)
    }

    /// Returns `true` if an output was first seen before a person ended the hold of a restore. It is proposed only.
    pub fn is_before_release(&self, output: &DestinationOutput) -> bool {
        self.transfer.released_at.is_some_and(|at| output.seen_at < at)
    }

    /// Returns `true` if an output has exactly the amount of this transfer, in its coin.
    pub fn is_exact(&self, output: &DestinationOutput) -> bool {
        output.asset == self.transfer.asset && self.needed() == Some(output.amount)
    }

    /// Returns `true` if an output is between half and twice the amount. Any amount fits a transfer that may have been
    /// sent under other terms.
    pub fn is_plausible(&self, output: &DestinationOutput) -> bool {
        output.asset == self.transfer.asset
            && (self.may_have_other_terms()
                || self.needed().is_some_and(|needed| {
                    output.amount.0 >= needed.0.div_ceil(2) && output.amount.0 / 2 <= needed.0
                }))
    }

    /// Returns `true` if the block at this height was mined before the transfer was requested.
    pub fn is_before_request(&self, output: &DestinationOutput) -> bool {
        match (self.transfer.requested_height, output.height) {
            (Some(requested), Some(height)) => height <= requested,
            (None, Some(_)) => output.seen_at < start_of_second(self.transfer.requested_at),
            (_, None) => false,
        }
    }

    /// Returns `true` if the signer is running for this transfer, and may have made an output first seen at this time.
    pub fn may_be_sending_since(&self, output: &DestinationOutput) -> bool {
        let begun = self.transfer.sending_progress.handed_over_at;
        self.transfer.sending == Some(SendingState::Running)
            && begun.is_none_or(|begun| output.seen_at >= begun.plus_ms(-HEADER_TIME_ERROR_MS_MAX))
    }

    /// Returns `true` if the transfer was handed over before an output was first seen.
    pub fn is_handed_over_before(&self, output: &DestinationOutput) -> bool {
        let begun = self.transfer.sending_progress.handed_over_at;
        begun.is_some_and(|begun| start_of_second(begun) <= output.seen_at)
    }
}

/// Rounds a time down to a full second.
fn start_of_second(at: Time) -> Time {
    at.plus_ms(at.0.rem_euclid(SECOND_MS).saturating_neg())
}

/// All facts about one destination: an address of a chain in one mode.
#[derive(Clone, Debug)]
pub struct DestinationFacts {
    /// Transfers that are open, watched or under review, in the order of their requests. Older transfers are left out,
    /// with the outputs that count for them.
    pub transfers: Vec<DestinationTransfer>,
    /// Outputs that count for no older transfer, in the order of transaction and position.
    pub outputs: Vec<DestinationOutput>,
    /// Transactions that were entered, found or followed, as far as a node told of them.
    pub transactions: Vec<AttachedTransaction>,
    /// Height up to which blocks are final, or too deep for a reorg.
    pub final_height: u32,
    /// Time of the assessment. It decides only for how long ended transfers are watched.
    pub now: Time,
}

impl DestinationFacts {
    /// Returns what a node told of a transaction.
    pub fn transaction(&self, txid: &str) -> Option<&AttachedTransaction> {
        self.transactions.iter().find(|known| known.txid == txid)
    }

    /// Returns how certain a transaction is, by the node's report about it and by its outputs to this destination.
    pub fn presence_of(&self, txid: &str) -> Presence {
        let told = match self.transaction(txid).map(|known| known.state) {
            Some(AttachedState::Mined) => Presence::Mined,
            Some(AttachedState::Mempool) => Presence::Mempool,
            Some(AttachedState::Absent | AttachedState::Unseen) | None => Presence::Absent,
        };
        let outputs = self.outputs.iter().filter(|output| output.txid == txid);
        outputs.map(DestinationOutput::presence).fold(told, Presence::max)
    }

    /// Returns the outputs that settled a transfer, dropped ones too.
    pub fn settled_outputs(&self, seq: i64) -> impl Iterator<Item = &DestinationOutput> {
        self.outputs.iter().filter(move |output| output.settled == Some(seq))
    }

    /// Returns the transaction of a transfer with its source: the one that was entered, or else the one that settled it.
    pub fn own_transaction<'a>(
        &'a self,
        one: &'a DestinationTransfer,
    ) -> Option<(&'a str, TxidSource)> {
        let entered = one.entry().map(|entry| (entry.txid.as_str(), entry.source));
        entered.or_else(|| {
            let settled = self.settled_outputs(one.seq());
            let best = settled.max_by_key(|output| output.presence())?;
            Some((best.txid.as_str(), TxidSource::Chain))
        })
    }

    /// Returns the ids of all transactions that were ever entered for a transfer or settled it.
    pub fn transactions_of<'a>(&'a self, one: &'a DestinationTransfer) -> Vec<&'a str> {
        let entered = one.acts.iter().filter(|act| act.kind == TransferActKind::Entered);
        let settled = self.settled_outputs(one.seq()).map(|output| output.txid.as_str());
        entered.map(|act| act.txid.as_str()).chain(settled).collect()
    }

    /// Returns the transactions that took the place of this one, the nearest first. They spend one of its inputs or
    /// use its nonce.
    pub fn replacements_of<'a>(&'a self, txid: &'a str) -> Vec<&'a str> {
        let mut found = vec![txid];
        let mut next = 0;
        while let Some(of) = found.get(next).copied() {
            next = next.saturating_add(1);
            let by = self.transaction(of).and_then(|known| known.gone_by.as_deref());
            let by = by.filter(|by| !found.contains(by));
            found.extend(by);
            for output in &self.outputs {
                let other = output.txid.as_str();
                if !found.contains(&other) && self.conflict(of, &output.spends) {
                    found.push(other);
                }
            }
        }
        found.remove(0);
        found
    }

    /// Returns `true` if one of these inputs is an output that this transaction spends, too.
    fn conflict(&self, txid: &str, spends: &[InputSource]) -> bool {
        let told = self.transaction(txid).map(|known| known.spends.as_slice());
        let mut seen = self.outputs.iter().filter(|output| output.txid == txid);
        let own = told.filter(|spends| !spends.is_empty());
        let own = own.or_else(|| seen.next().map(|output| output.spends.as_slice()));
        own.unwrap_or_default()
            .iter()
            .any(|spent| matches!(spent, InputSource::Output(..)) && spends.contains(spent))
    }
}
