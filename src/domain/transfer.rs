//! Payouts and refunds: money on its way out, and the one state machine of both.
//!
//! What lives here: the transfer, its states and steps. What does not: how much coin is sent (`terms`), how a step
//! is asked for (`step`), its ledger entries (`service`). What always holds: a step that the machine does not have
//! changes nothing.

pub mod approval;
pub mod sender;
pub mod step;
pub mod terms;

use super::asset::{Asset, Mode};
use super::event::EventType;
use super::ledger::{LedgerKind, RefType};
use super::money::{Cents, Currency};
use super::refusal::{Code, Refusal};
use super::text_enum::text_enum;
use super::time::Time;
use approval::FeeSource;
use sender::SentBy;
use step::{Step, TransferAction};
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
    /// Where a payout or refund stands.
    ///
    /// ```text
    /// requested ──approve──→ approved ──process──→ processing ──pay──→ paid
    ///     ├──reject──→ rejected ├──fail──→ failed       └──fail──→ failed
    ///     └──cancel─→ cancelled └──cancel─→ cancelled
    /// ```
    ///
    /// One that is held since a restore goes the same way by hand only; `release` ends that and moves nothing. `reassign`
    /// changes who sends an approved one, and moves nothing.
    pub enum TransferStatus {
        /// The amount has left the balance; nothing else has happened.
        Requested = "requested",
        /// Rate, network fee and amount in coin are fixed.
        Approved = "approved",
        /// It is being sent.
        Processing = "processing",
        /// It was sent.
        Paid = "paid",
        /// It could not be sent; the amount is back.
        Failed = "failed",
        /// It was not approved; the amount is back.
        Rejected = "rejected",
        /// It was cancelled; the amount is back.
        Cancelled = "cancelled",
    }
}

impl TransferStatus {
    /// Where an action leads from here; nothing where the machine has no such step.
    pub const fn after(self, action: TransferAction) -> Option<TransferStatus> {
        match (self, action) {
            (TransferStatus::Requested, TransferAction::Approve) => Some(TransferStatus::Approved),
            (TransferStatus::Requested, TransferAction::Reject) => Some(TransferStatus::Rejected),
            (TransferStatus::Requested | TransferStatus::Approved, TransferAction::Release) => {
                Some(self)
            }
            (TransferStatus::Approved, TransferAction::Process) => Some(TransferStatus::Processing),
            (TransferStatus::Approved, TransferAction::Reassign) => Some(self),
            (TransferStatus::Processing, TransferAction::Pay) => Some(TransferStatus::Paid),
            (TransferStatus::Approved | TransferStatus::Processing, TransferAction::Fail) => {
                Some(TransferStatus::Failed)
            }
            (TransferStatus::Requested | TransferStatus::Approved, TransferAction::Cancel) => {
                Some(TransferStatus::Cancelled)
            }
            (
                TransferStatus::Requested,
                TransferAction::Process
                | TransferAction::Reassign
                | TransferAction::Pay
                | TransferAction::Fail,
            )
            | (
                TransferStatus::Approved,
                TransferAction::Approve | TransferAction::Pay | TransferAction::Reject,
            )
            | (
                TransferStatus::Processing,
                TransferAction::Approve
                | TransferAction::Process
                | TransferAction::Reassign
                | TransferAction::Reject
                | TransferAction::Cancel
                | TransferAction::Release,
            )
            | (
                TransferStatus::Paid
                | TransferStatus::Failed
                | TransferStatus::Rejected
                | TransferStatus::Cancelled,
                _,
            ) => None,
        }
    }

    /// Is the amount reserved: neither sent nor put back?
    pub const fn is_open(self) -> bool {
        match self {
            TransferStatus::Requested | TransferStatus::Approved | TransferStatus::Processing => {
                true
            }
            TransferStatus::Paid
            | TransferStatus::Failed
            | TransferStatus::Rejected
            | TransferStatus::Cancelled => false,
        }
    }

    /// Is the amount back in the balance?
    pub const fn is_put_back(self) -> bool {
        !self.is_open() && !matches!(self, TransferStatus::Paid)
    }

    /// What is told of coming here.
    pub const fn event(self, kind: TransferKind) -> Option<EventType> {
        match (self, kind) {
            (TransferStatus::Paid, TransferKind::Payout) => Some(EventType::PayoutPaid),
            (TransferStatus::Paid, TransferKind::Refund) => Some(EventType::RefundPaid),
            (TransferStatus::Failed, TransferKind::Payout) => Some(EventType::PayoutFailed),
            (TransferStatus::Failed, TransferKind::Refund) => Some(EventType::RefundFailed),
            (
                TransferStatus::Requested
                | TransferStatus::Approved
                | TransferStatus::Processing
                | TransferStatus::Rejected
                | TransferStatus::Cancelled,
                _,
            ) => None,
        }
    }
}

text_enum! {
    /// What is not known of a transfer: what a command that was started to send it is at, or, since the file was restored
    /// from an older copy, whether it was sent meanwhile.
    pub enum Sending {
        /// It has been started and has not answered.
        Running = "running",
        /// It ended in a way that does not say what was sent: a person looks and decides.
        Unknown = "unknown",
    }
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
    /// The transaction, once paid.
    pub txid: Option<String>,
    /// Why a refund was asked for.
    pub reason: Option<String>,
    /// Why it failed, was rejected or cancelled, where that was said.
    pub failure_reason: Option<String>,
    /// What a command that sends it is at.
    pub sending: Option<Sending>,
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
        let held = self.sending == Some(Sending::Unknown);
        if step == Step::Release && !held {
            let message = format!("this {kind} is not on hold");
            return Err(Refusal::of(Code::InvalidTransition, "action", message));
        }
        let stays_held = held && status.is_open() && step != Step::Release;
        let mut after = Transfer {
            status,
            sending: stays_held.then_some(Sending::Unknown),
            finalized_at: (!status.is_open()).then_some(now),
            ..self.clone()
        };
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
                after.sending = after.sending.or(sending);
            }
            Step::Release => {}
            Step::Pay(txid) => after.txid = Some(txid),
            Step::Fail(reason) | Step::Reject(reason) | Step::Cancel(reason) => {
                after.failure_reason = reason;
            }
        }
        Ok(after)
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

#[cfg(test)]
mod tests {
    use super::{TransferAction, TransferStatus};

    #[test]
    fn the_machine_has_these_steps_and_no_others() {
        use TransferAction::{Approve, Cancel, Fail, Pay, Process, Reassign, Reject, Release};
        use TransferStatus::{Approved, Cancelled, Failed, Paid, Processing, Rejected, Requested};
        let steps = [
            (Requested, Approve, Approved),
            (Requested, Reject, Rejected),
            (Requested, Cancel, Cancelled),
            (Requested, Release, Requested),
            (Approved, Release, Approved),
            (Approved, Process, Processing),
            (Approved, Reassign, Approved),
            (Approved, Fail, Failed),
            (Approved, Cancel, Cancelled),
            (Processing, Pay, Paid),
            (Processing, Fail, Failed),
        ];
        for status in TransferStatus::ALL {
            for action in TransferAction::ALL {
                let step = steps
                    .iter()
                    .find(|(from, by, _)| from == status && by == action);
                assert_eq!(
                    status.after(*action),
                    step.map(|(.., to)| *to),
                    "{status} {action}"
                );
            }
        }
    }

    #[test]
    fn a_transfer_is_open_or_paid_or_put_back() {
        for status in TransferStatus::ALL {
            let states = [
                status.is_open(),
                *status == TransferStatus::Paid,
                status.is_put_back(),
            ];
            assert_eq!(states.iter().filter(|state| **state).count(), 1, "{status}");
            let has_step = TransferAction::ALL
                .iter()
                .any(|action| status.after(*action).is_some());
            assert_eq!(has_step, status.is_open(), "{status}");
        }
    }
}
