//! Payouts and refunds: outgoing money, with one state machine for both.
//!
//! Invariant: a step that the state machine does not have changes nothing.

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
use step::{Settlement, TransferAction, TransferStep};
use terms::TransferTerms;

text_enum! {
    /// Kind of a transfer, by its recipient.
    pub enum TransferKind {
        /// To the merchant.
        Payout = "payout",
        /// To a customer, from what was paid on an invoice.
        Refund = "refund",
    }
}

impl TransferKind {
    /// Returns the kind of the ledger entry that takes the money out of the balance.
    pub const fn ledger_kind(self) -> LedgerKind {
        match self {
            TransferKind::Payout => LedgerKind::Payout,
            TransferKind::Refund => LedgerKind::Refund,
        }
    }

    /// Returns the kind of the ledger entry that puts the money back.
    pub const fn reversal_kind(self) -> LedgerKind {
        match self {
            TransferKind::Payout => LedgerKind::PayoutReversal,
            TransferKind::Refund => LedgerKind::RefundReversal,
        }
    }

    /// Returns the kind of subject of these ledger entries.
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
        /// The chain: the attached transaction is confirmed.
        Chain = "chain",
        /// A person, with a reason.
        Person = "person",
        /// Not checked on a chain.
        Unchecked = "unchecked",
    }
}

/// Progress of sending a transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dispatch {
    /// Source of the transaction id, while there is one.
    pub txid_from: Option<TxidSource>,
    /// When the transaction id was attached.
    pub attached_at: Option<Time>,
    /// Time at which the transfer first became `processing`.
    pub handed_over_at: Option<Time>,
    /// Reason that the signer gave, or explanation of an unknown outcome.
    pub sending_reason: Option<String>,
    /// Time since which the signer asks for retries, and time of the next run.
    pub retry: Option<(Time, Time)>,
    /// Reason why it counts as paid.
    pub settled_by: Option<SettledBy>,
    /// Reason of the person who counted it as paid.
    pub settled_reason: Option<String>,
    /// Height of the first block in which its destination was watched.
    pub watched_from: Option<u32>,
}

/// A payout or a refund.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Payout or refund.
    pub kind: TransferKind,
    /// Account whose balance it leaves, by `seq`.
    pub account: i64,
    /// Id of that account.
    pub account_id: String,
    /// Live or test. Payouts are always live.
    pub mode: Mode,
    /// Invoice that a refund gives back, by `seq` and id.
    pub invoice: Option<(i64, String)>,
    /// Status of the transfer.
    pub status: TransferStatus,
    /// Currency of the amount.
    pub currency: Currency,
    /// Amount that leaves the balance.
    pub amount: Cents,
    /// Coin that is sent.
    pub asset: &'static Asset,
    /// Destination, on the chain of the coin.
    pub to_address: String,
    /// Rate, network fee and amount in coin, fixed at approval.
    pub terms: Option<TransferTerms>,
    /// Source of its network fee; `None` before approval, and for old rows without it.
    pub fee_source: Option<FeeSource>,
    /// Sender; `None` before approval, and for old rows without it.
    pub sent_by: Option<SentBy>,
    /// Time at which the signer became the sender, while it is.
    pub signer_at: Option<Time>,
    /// Id of the transaction that pays it.
    pub txid: Option<String>,
    /// Reason for a refund, as requested.
    pub reason: Option<String>,
    /// Reason why it failed, was rejected or was cancelled, if one was given.
    pub failure_reason: Option<String>,
    /// State of the signer, or the hold of a restore.
    pub sending: Option<Sending>,
    /// Progress of sending it.
    pub dispatch: Dispatch,
    /// Time of the request.
    pub requested_at: Time,
    /// Time of approval.
    pub approved_at: Option<Time>,
    /// Time at which it was paid, failed, rejected or cancelled.
    pub finalized_at: Option<Time>,
}

impl Transfer {
    /// Returns the transfer after a step.
    ///
    /// # Errors
    /// `invalid_transition` if the state machine has no such step.
    pub fn after(&self, step: TransferStep, now: Time) -> Result<Transfer, Refusal> {
        let action = step.action();
        let (kind, before) = (self.kind, self.status);
        let status = before
            .after(action)
            .ok_or_else(|| invalid_step(kind, before, action))?;
        self.check_action(action)?;
        let stays_held = self.is_held() && status == TransferStatus::Processing;
        let mut after = Transfer {
            status,
            finalized_at: (!status.is_open()).then_some(now),
            ..self.clone()
        };
        after.clear_sending();
        after.sending = stays_held.then_some(Sending::Restored);
        match step {
            TransferStep::Approve(approval) => {
                after.terms = Some(approval.terms);
                after.fee_source = Some(approval.fee_source);
                after.approved_at = Some(now);
                after.set_sender(approval.sent_by, now);
            }
            TransferStep::Reassign(sent_by) => {
                if self.sent_by == Some(sent_by) {
                    let message = format!("this {kind} is sent by {sent_by} already");
                    return Err(Refusal::about(Code::InvalidTransition, "sentBy", message));
                }
                after.set_sender(sent_by, now);
            }
            TransferStep::Process(sending) => {
                self.check_sender(sending)?;
                after.sending = sending;
                after.dispatch.handed_over_at = self.dispatch.handed_over_at.or(Some(now));
            }
            TransferStep::Release(sent_by) => {
                if let Some(sent_by) = sent_by {
                    after.set_sender(sent_by, now);
                }
            }
            TransferStep::Pay(settlement) => after.settle(settlement, now),
            TransferStep::Fail(reason)
            | TransferStep::Reject(reason)
            | TransferStep::Cancel(reason) => {
                after.failure_reason = reason;
            }
        }
        Ok(after)
    }

    /// Refuses an action that the hold after a restore does not allow.
    ///
    /// # Errors
    /// `invalid_transition`.
    pub fn check_action(&self, action: TransferAction) -> Result<(), Refusal> {
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
        Err(Refusal::about(Code::InvalidTransition, "action", message))
    }

    /// Returns `true` if the transfer is on hold since a restore.
    pub fn is_held(&self) -> bool {
        self.sending == Some(Sending::Restored)
    }

    /// Clears the last outcome of the signer.
    pub fn clear_sending(&mut self) {
        self.sending = None;
        self.dispatch.sending_reason = None;
        self.dispatch.retry = None;
    }

    /// Attaches a transaction id that was entered, returned by the signer, or found.
    pub fn attach(&mut self, txid: &str, from: TxidSource, now: Time) {
        self.txid = Some(txid.to_owned());
        self.dispatch.txid_from = Some(from);
        self.dispatch.attached_at = Some(now);
    }

    /// Removes the transaction id.
    pub fn detach(&mut self) {
        self.txid = None;
        self.dispatch.txid_from = None;
        self.dispatch.attached_at = None;
    }

    /// Records the reason why it counts as paid, and a new transaction id if there is one.
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

    /// Sets the sender.
    fn set_sender(&mut self, sent_by: SentBy, now: Time) {
        self.sent_by = Some(sent_by);
        self.signer_at = (sent_by == SentBy::Signer).then_some(now);
    }

    /// Checks that a person does not send a transfer of the signer, and vice versa.
    fn check_sender(&self, sending: Option<Sending>) -> Result<(), Refusal> {
        let kind = self.kind;
        let is_signers = self.sent_by == Some(SentBy::Signer);
        let message = match (sending, is_signers) {
            (None, false) | (Some(_), true) => return Ok(()),
            (None, true) => {
                format!("the signer sends this {kind}; reassign it with sentBy hand first")
            }
            (Some(_), false) => format!("this {kind} is sent by hand, so no command is started"),
        };
        Err(Refusal::about(Code::InvalidTransition, "action", message))
    }
}

/// Returns a 409 `invalid_transition`.
pub fn invalid_step(kind: TransferKind, status: TransferStatus, action: TransferAction) -> Refusal {
    let message = format!("{action} is not possible for a {kind} that is {status}");
    Refusal::about(Code::InvalidTransition, "action", message)
}
