//! Payouts and refunds: money on its way out, and the one state machine of both.
//!
//! What lives here: the transfer, its states and steps. What does not: how much coin is sent (`terms`), how a step
//! is asked for (`step`), its ledger entries (`service`). What always holds: a step that the machine does not have
//! changes nothing.

pub mod approval;
pub mod inputs;
pub mod on_chain;
pub mod outgoing;
pub mod request;
pub mod sender;
pub mod share;
mod status;
pub mod step;
pub mod terms;

use super::asset::{Asset, Mode};
use super::ledger::{LedgerKind, RefType};
use super::money::{Cents, Currency};
use super::refusal::{Code, Refusal};
use super::text_enum::text_enum;
use super::time::Time;
use approval::FeeSource;
use sender::SentBy;
pub use status::TransferStatus;
use step::{Settlement, Step, TransferAction};
use terms::Terms;

text_enum! {
    /// Who gets the money.
    pub enum TransferKind {
        /// The merchant.
        Payout = "payout",
        /// A customer, of what was paid on an invoice.
        Refund = "refund",
    }
}

impl TransferKind {
    /// The entry that takes the money out of the balance.
    pub const fn booked_as(self) -> LedgerKind {
        match self {
            TransferKind::Payout => LedgerKind::Payout,
            TransferKind::Refund => LedgerKind::Refund,
        }
    }

    /// The entry that puts it back.
    pub const fn reversed_as(self) -> LedgerKind {
        match self {
            TransferKind::Payout => LedgerKind::PayoutReversal,
            TransferKind::Refund => LedgerKind::RefundReversal,
        }
    }

    /// What those entries refer to.
    pub const fn ref_type(self) -> RefType {
        match self {
            TransferKind::Payout => RefType::Payout,
            TransferKind::Refund => RefType::Refund,
        }
    }
}

text_enum! {
    /// State of the signer for a transfer, or the hold of a restore.
    pub enum Sending {
        /// The signer was started and has not answered.
        Running = "running",
        /// The signer ended without saying what it sent.
        Unknown = "unknown",
        /// The signer signed nothing, and is run again for the same order.
        Retry = "retry",
        /// The signer sent nothing, and is not run again.
        Declined = "declined",
        /// The file was restored from an older copy: the transfer may have been sent since.
        Restored = "restored",
    }
}

text_enum! {
    /// Source of the transaction id of a transfer.
    pub enum TxidSource {
        /// A person entered it.
        Person = "person",
        /// The signer answered it.
        Signer = "signer",
        /// An output of exactly the amount was found at the destination.
        Chain = "chain",
    }
}

text_enum! {
    /// Reason why a transfer counts as paid.
    pub enum SettledBy {
        /// Its chain: the attached transaction is confirmed.
        Chain = "chain",
        /// A person, with a reason.
        Person = "person",
        /// Nobody checked it on a chain.
        Unchecked = "unchecked",
    }
}

/// How the sending of a transfer goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dispatch {
    /// Source of the transaction id, while there is one.
    pub txid_from: Option<TxidSource>,
    /// When the transaction id was attached.
    pub attached_at: Option<Time>,
    /// When the transfer was first in `processing`.
    pub handed_over_at: Option<Time>,
    /// The signer's reason, or why its outcome is unknown.
    pub sending_reason: Option<String>,
    /// Since when the signer asks for retries, and the time of the next run.
    pub retry: Option<(Time, Time)>,
    /// Why it counts as paid.
    pub settled_by: Option<SettledBy>,
    /// The person's reason for counting it as paid.
    pub settled_reason: Option<String>,
    /// Height of the first block in which its destination was watched.
    pub watched_from: Option<u32>,
}

/// A payout or a refund.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// Who gets the money.
    pub kind: TransferKind,
    /// Whose balance it leaves.
    pub account: i64,
    /// That account's id.
    pub account_id: String,
    /// Live or test; payouts are live.
    pub mode: Mode,
    /// What a refund gives back: the invoice's place in the file and its id.
    pub invoice: Option<(i64, String)>,
    /// Where it stands.
    pub status: TransferStatus,
    /// What the amount is in.
    pub currency: Currency,
    /// What leaves the balance.
    pub amount: Cents,
    /// The coin it is sent in.
    pub asset: &'static Asset,
    /// Where to, on the coin's chain.
    pub to_address: String,
    /// What was fixed at approval.
    pub terms: Option<Terms>,
    /// Where its network fee comes from; `None` before approval, and where that was not kept.
    pub fee_source: Option<FeeSource>,
    /// Who sends it; `None` before approval, and where that was not kept.
    pub sent_by: Option<SentBy>,
    /// When the signer was given it, while `sent_by` is the signer.
    pub signer_at: Option<Time>,
    /// Id of the transaction that pays it.
    pub txid: Option<String>,
    /// Why a refund was asked for.
    pub reason: Option<String>,
    /// Why it failed, was rejected or cancelled, where that was said.
    pub failure_reason: Option<String>,
    /// State of the signer, or the hold of a restore.
    pub sending: Option<Sending>,
    /// How the sending goes.
    pub dispatch: Dispatch,
    /// When it was asked for.
    pub requested_at: Time,
    /// When it was approved.
    pub approved_at: Option<Time>,
    /// When it was paid, failed, rejected or cancelled.
    pub finalized_at: Option<Time>,
}

impl Transfer {
    /// The transfer after a step.
    ///
    /// # Errors
    /// `invalid_transition` where the machine has no such step.
    pub fn after(&self, step: Step, now: Time) -> Result<Transfer, Refusal> {
        let action = step.action();
        let (kind, before) = (self.kind, self.status);
        let status = before
            .after(action)
            .ok_or_else(|| no_such_step(kind, before, action))?;
        self.may_take(action)?;
        let stays_held = self.is_held() && status == TransferStatus::Processing;
        let mut after = Transfer {
            status,
            finalized_at: (!status.is_open()).then_some(now),
            ..self.clone()
        };
        after.clear_sending();
        after.sending = stays_held.then_some(Sending::Restored);
        match step {
            Step::Approve(approval) => {
                after.terms = Some(approval.terms);
                after.fee_source = Some(approval.fee_source);
                after.approved_at = Some(now);
                after.give_to(approval.sent_by, now);
            }
            Step::Reassign(sent_by) => {
                if self.sent_by == Some(sent_by) {
                    let message = format!("this {kind} is sent by {sent_by} already");
                    return Err(Refusal::of(Code::InvalidTransition, "sentBy", message));
                }
                after.give_to(sent_by, now);
            }
            Step::Process(sending) => {
                self.may_be_processed(sending)?;
                after.sending = sending;
                after.dispatch.handed_over_at = self.dispatch.handed_over_at.or(Some(now));
            }
            Step::Release(sent_by) => {
                if let Some(sent_by) = sent_by {
                    after.give_to(sent_by, now);
                }
            }
            Step::Pay(settlement) => after.settle(settlement, now),
            Step::Fail(reason) | Step::Reject(reason) | Step::Cancel(reason) => {
                after.failure_reason = reason;
            }
        }
        Ok(after)
    }

    /// Refuses what the hold of a restore does not allow.
    ///
    /// # Errors
    /// `invalid_transition`.
    pub fn may_take(&self, action: TransferAction) -> Result<(), Refusal> {
        let kind = self.kind;
        let is_release = action == TransferAction::Release;
        let message = match (self.is_held(), self.status) {
            (false, _) if is_release => format!("this {kind} is not on hold"),
            (true, TransferStatus::Requested | TransferStatus::Approved) if !is_release => {
                format!(
                    "this {kind} is on hold since a restore: it may have been sent since the copy was made. Look at its \
                     destination, then release it"
                )
            }
            (true | false, _) => return Ok(()),
        };
        Err(Refusal::of(Code::InvalidTransition, "action", message))
    }

    /// Returns `true` if the transfer is on hold since a restore.
    pub fn is_held(&self) -> bool {
        self.sending == Some(Sending::Restored)
    }

    /// Forgets what the signer said last.
    pub fn clear_sending(&mut self) {
        self.sending = None;
        self.dispatch.sending_reason = None;
        self.dispatch.retry = None;
    }

    /// Notes a transaction id that was entered, answered or found.
    pub fn attach(&mut self, txid: &str, from: TxidSource, now: Time) {
        self.txid = Some(txid.to_owned());
        self.dispatch.txid_from = Some(from);
        self.dispatch.attached_at = Some(now);
    }

    /// Forgets the transaction id.
    pub fn detach(&mut self) {
        self.txid = None;
        self.dispatch.txid_from = None;
        self.dispatch.attached_at = None;
    }

    /// Notes why it counts as paid, and its transaction where that is new.
    fn settle(&mut self, settlement: Settlement, now: Time) {
        if let Some(txid) = settlement
            .txid
            .filter(|txid| self.txid.as_ref() != Some(txid))
        {
            self.attach(&txid, TxidSource::Person, now);
        }
        self.dispatch.settled_by = Some(settlement.by);
        self.dispatch.settled_reason = settlement.reason;
    }

    /// Notes who sends it from now on.
    fn give_to(&mut self, sent_by: SentBy, now: Time) {
        self.sent_by = Some(sent_by);
        self.signer_at = (sent_by == SentBy::Signer).then_some(now);
    }

    /// Refuses that a person sends what the signer sends, and the other way round.
    fn may_be_processed(&self, sending: Option<Sending>) -> Result<(), Refusal> {
        let kind = self.kind;
        let is_signers = self.sent_by == Some(SentBy::Signer);
        let message = match (sending, is_signers) {
            (None, false) | (Some(_), true) => return Ok(()),
            (None, true) => {
                format!("the signer sends this {kind}; reassign it with sentBy hand first")
            }
            (Some(_), false) => format!("this {kind} is sent by hand, so no command is started"),
        };
        Err(Refusal::of(Code::InvalidTransition, "action", message))
    }
}

/// 409 `invalid_transition`.
pub fn no_such_step(kind: TransferKind, status: TransferStatus, action: TransferAction) -> Refusal {
    let message = format!("{action} is not possible for a {kind} that is {status}");
    Refusal::of(Code::InvalidTransition, "action", message)
}
