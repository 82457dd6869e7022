//! Payouts and refunds: outgoing money, with one state machine for both.
//!
//! Invariant: a step that the state machine does not have changes nothing.

pub mod act;
pub mod approval;
pub mod basis;
pub mod destination;
pub mod inputs;
pub mod on_chain;
pub mod outgoing;
pub mod request;
pub mod sender;
mod status;
pub mod step;
pub mod terms;

use super::asset::{Asset, Mode};
use super::ledger::{LedgerKind, RefType};
use super::money::{Cents, Currency};
use super::refusal::{Refusal, RefusalCode};
use super::text_enum::text_enum;
use super::time::Time;
use approval::TermsSource;
use sender::{Sender, SentBy};
pub use status::TransferStatus;
use step::{Settlement, TransferAction, TransferStep};
use terms::TransferTerms;

text_enum! {
    /// Kind of a transfer.
    pub enum TransferKind {
        /// A payout to the merchant.
        Payout = "payout",
        /// A refund to a customer, from the money that was paid on an invoice.
        Refund = "refund",
    }
}

impl TransferKind {
    /// Returns the kind of the ledger entry that takes the amount out of the balance.
    pub const fn ledger_kind(self) -> LedgerKind {
        match self {
            TransferKind::Payout => LedgerKind::Payout,
            TransferKind::Refund => LedgerKind::Refund,
        }
    }

    /// Returns the kind of the ledger entry that puts the amount back into the balance.
    pub const fn reversal_kind(self) -> LedgerKind {
        match self {
            TransferKind::Payout => LedgerKind::PayoutReversal,
            TransferKind::Refund => LedgerKind::RefundReversal,
        }
    }

    /// Returns the type of object to which the transfer's ledger entries refer.
    pub const fn ref_type(self) -> RefType {
        match self {
            TransferKind::Payout => RefType::Payout,
            TransferKind::Refund => RefType::Refund,
        }
    }
}

text_enum! {
    /// State of the signer for a transfer, or the hold that follows a restore.
    pub enum SendingState {
        /// The signer was started and has not ended.
        Running = "running",
        /// The signer ended without reporting what it sent.
        Unknown = "unknown",
        /// The signer signed nothing and will be run again.
        Retry = "retry",
        /// The signer sent nothing and will not be run again.
        Declined = "declined",
        /// The database was restored from an older copy. The transfer may have been sent after the copy was made.
        Restored = "restored",
    }
}

text_enum! {
    /// Source of the transaction id of a transfer.
    pub enum TxidSource {
        /// A person entered the transaction id.
        Person = "person",
        /// The signer returned the transaction id.
        Signer = "signer",
        /// An output to the destination was found on the chain, with exactly the amount to send.
        Chain = "chain",
    }
}

text_enum! {
    /// Source of the information that a transfer is paid.
    pub enum SettledBy {
        /// The chain: the attached transaction is confirmed.
        Chain = "chain",
        /// A person settled the transfer and gave a reason.
        Person = "person",
        /// The payment was not checked on a chain.
        Unchecked = "unchecked",
    }
}

/// Progress of sending a transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendingProgress {
    /// Source of the transaction id; `None` without an id.
    pub txid_from: Option<TxidSource>,
    /// Time at which the transfer first became `processing`.
    pub handed_over_at: Option<Time>,
    /// Reason from the signer, or explanation of an unknown outcome.
    pub sending_reason: Option<String>,
    /// Time of the signer's first request for a retry, and time of its next run.
    pub retry: Option<(Time, Time)>,
    /// Source of the information that the transfer is paid.
    pub settled_by: Option<SettledBy>,
    /// Reason of the person who settled the transfer.
    pub settled_reason: Option<String>,
    /// Height of the first block in which the destination was watched.
    pub watched_from: Option<u32>,
    /// Height of the last block that was read at the time of the approval; `None` if no block was read before.
    pub approved_height: Option<u32>,
    /// `true` if some blocks since the approval can no longer be read.
    pub has_unread_blocks: bool,
}

/// A payout or a refund.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Payout or refund.
    pub kind: TransferKind,
    /// `seq` of the account whose balance pays the transfer.
    pub account: i64,
    /// Public id of the account.
    pub account_id: String,
    /// Live or test mode. Payouts exist in live mode only.
    pub mode: Mode,
    /// Invoice whose payment is refunded, by `seq` and id; `None` for payouts.
    pub invoice: Option<(i64, String)>,
    /// Status of the transfer.
    pub status: TransferStatus,
    /// Currency of the amount.
    pub currency: Currency,
    /// Amount that is taken out of the balance.
    pub amount: Cents,
    /// Coin that is sent.
    pub asset: &'static Asset,
    /// Destination address, on the chain of the coin.
    pub to_address: String,
    /// `seq` of the destination; 0 before the transfer is stored.
    pub destination: i64,
    /// Rate, network fee and amount in coin, fixed at approval.
    pub terms: Option<TransferTerms>,
    /// Sources of the rate and the network fee; `None` before approval.
    pub terms_source: Option<TermsSource>,
    /// Sender; `None` before approval.
    pub sent_by: Option<SentBy>,
    /// Time at which the signer became the sender, and the amount that counts towards its limit; `None` if the signer is
    /// not the sender.
    pub signer_share: Option<(Time, Cents)>,
    /// Id of the attached transaction.
    pub txid: Option<String>,
    /// Reason in the request of a refund.
    pub reason: Option<String>,
    /// Reason why the transfer failed, was rejected or was cancelled.
    pub failure_reason: Option<String>,
    /// State of the signer, or the hold that follows a restore.
    pub sending: Option<SendingState>,
    /// Progress of sending the transfer.
    pub sending_progress: SendingProgress,
    /// `true` if an output of exactly the amount waits for a decision. The signer does not send the transfer then.
    pub has_exact_proposal: bool,
    /// `true` if nothing that happens at the destination changes the transfer any more.
    pub is_frozen: bool,
    /// Time at which a person ended the hold that followed a restore.
    pub released_at: Option<Time>,
    /// Time of the request.
    pub requested_at: Time,
    /// Height of the last block of the chain that was read at the time of the request; `None` if none was read yet.
    pub requested_height: Option<u32>,
    /// Time of approval.
    pub approved_at: Option<Time>,
    /// Time at which the transfer was paid, failed, rejected or cancelled.
    pub finalized_at: Option<Time>,
}

impl Transfer {
    /// Returns the transfer after a step.
    ///
    /// # Errors
    /// `invalid_transition` if the state machine has no such step.
    pub fn after_step(&self, step: TransferStep, now: Time) -> Result<Transfer, Refusal> {
        let action = step.action();
        let (kind, before) = (self.kind, self.status);
        let status =
            before.after_action(action).ok_or_else(|| invalid_step(kind, before, action))?;
        self.check_action(action)?;
        let stays_held = self.is_on_hold() && status == TransferStatus::Processing;
        let mut after =
            Transfer { status, finalized_at: (!status.is_open()).then_some(now), ..self.clone() };
        after.clear_sending();
        after.sending = stays_held.then_some(SendingState::Restored);
        match step {
            TransferStep::Approve(approval) => {
                after.terms = Some(approval.fixed.terms);
                after.terms_source = Some(approval.fixed.source);
                after.approved_at = Some(now);
                after.set_sender(approval.sender, now);
            }
            TransferStep::Reassign(sender) => {
                if self.sent_by == Some(sender.sent_by()) {
                    let message = format!("this {kind} is sent by {} already", sender.sent_by());
                    return Err(Refusal::for_param(
                        RefusalCode::InvalidTransition,
                        "sentBy",
                        message,
                    ));
                }
                after.set_sender(sender, now);
            }
            TransferStep::Process(sending) => {
                self.check_sender(sending)?;
                after.sending = sending;
                after.sending_progress.handed_over_at =
                    self.sending_progress.handed_over_at.or(Some(now));
            }
            TransferStep::Release(sender) => {
                after.released_at = Some(now);
                if let Some(sender) = sender {
                    after.set_sender(sender, now);
                }
            }
            TransferStep::Pay(settlement) => after.settle(settlement),
            TransferStep::Fail(reason)
            | TransferStep::Reject(reason)
            | TransferStep::Cancel(reason) => {
                after.failure_reason = reason;
            }
        }
        Ok(after)
    }

    /// Refuses an action that is not allowed while the transfer is on hold after a restore.
    ///
    /// # Errors
    /// `invalid_transition`.
    pub fn check_action(&self, action: TransferAction) -> Result<(), Refusal> {
        let kind = self.kind;
        let is_release = action == TransferAction::Release;
        let message = match (self.is_on_hold(), self.status) {
            (false, _) if is_release => format!("this {kind} is not on hold"),
            (true, TransferStatus::Requested | TransferStatus::Approved) if !is_release => {
                format!(
                    "this {kind} is on hold since a restore: it may have been sent after the backup. Check its destination, then release it"
                )
            }
            (true | false, _) => return Ok(()),
        };
        Err(Refusal::for_param(RefusalCode::InvalidTransition, "action", message))
    }

    /// Returns `true` if the transfer has been on hold since a restore.
    pub fn is_on_hold(&self) -> bool {
        self.sending == Some(SendingState::Restored)
    }

    /// Clears the state of the signer and the signer's reason.
    pub fn clear_sending(&mut self) {
        self.sending = None;
        self.sending_progress.sending_reason = None;
        self.sending_progress.retry = None;
    }

    /// Sets the transaction of the transfer with its source, or removes it.
    pub fn set_transaction(&mut self, transaction: Option<(String, TxidSource)>) {
        let (txid, from) = transaction.unzip();
        self.txid = txid;
        self.sending_progress.txid_from = from;
    }

    /// Returns the transaction of the transfer with its source.
    pub fn transaction(&self) -> Option<(String, TxidSource)> {
        self.txid.clone().zip(self.sending_progress.txid_from)
    }

    /// Records the settlement, and its transaction id if there is one.
    fn settle(&mut self, settlement: Settlement) {
        if let Some(txid) = settlement.txid.filter(|txid| self.txid.as_ref() != Some(txid)) {
            self.set_transaction(Some((txid, TxidSource::Person)));
        }
        self.sending_progress.settled_by = Some(settlement.by);
        self.sending_progress.settled_reason = settlement.reason;
    }

    /// Sets the sender, and for the signer the time and the amount that counts towards its limit.
    fn set_sender(&mut self, sender: Sender, now: Time) {
        self.sent_by = Some(sender.sent_by());
        self.signer_share = match sender {
            Sender::Hand => None,
            Sender::Signer(counted) => Some((now, counted)),
        };
    }

    /// Refuses to process a transfer by hand if the signer is its sender, and by the signer if a person is its
    /// sender.
    fn check_sender(&self, sending: Option<SendingState>) -> Result<(), Refusal> {
        let kind = self.kind;
        let is_signers = self.sent_by == Some(SentBy::Signer);
        let message = match (sending, is_signers) {
            (None, false) | (Some(_), true) => return Ok(()),
            (None, true) => {
                format!("the signer sends this {kind}; reassign it with sentBy hand first")
            }
            (Some(_), false) => format!("this {kind} is sent by hand, so no command is started"),
        };
        Err(Refusal::for_param(RefusalCode::InvalidTransition, "action", message))
    }
}

/// Returns a 409 `invalid_transition` that names the status and the action.
pub fn invalid_step(kind: TransferKind, status: TransferStatus, action: TransferAction) -> Refusal {
    let message = format!("{action} is not possible for a {kind} that is {status}");
    Refusal::for_param(RefusalCode::InvalidTransition, "action", message)
}
