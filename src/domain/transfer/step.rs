//! The steps of a transfer: what is done to it, and how somebody asks for that.
//!
//! What lives here: the actions, their bodies, and what each needs. What does not: whether a step is possible from
//! the transfer's status ([`TransferStatus::after`](super::TransferStatus::after)). What always holds: a field that
//! does not belong to the action is refused, because somebody meant something by it.

use super::Sending;
use super::approval::{APPROVAL_FIELDS, Approval, ApprovalRequest};
use super::sender::SentBy;
use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::text_enum;
use serde_json::{Map, Value};

/// The longest transaction id.
pub const TXID_CHARS_MAX: usize = 128;
/// The longest reason.
pub const REASON_CHARS_MAX: usize = 500;

text_enum! {
    /// What may be done to a payout or refund.
    pub enum TransferAction {
        /// Fixes rate, network fee and amount in coin.
        Approve = "approve",
        /// Changes who sends it.
        Reassign = "reassign",
        /// It is being sent from here on.
        Process = "process",
        /// It was sent.
        Pay = "pay",
        /// It could not be sent.
        Fail = "fail",
        /// It is not approved.
        Reject = "reject",
        /// It is cancelled.
        Cancel = "cancel",
        /// A person has looked at it after a restore: it goes back to the status that it had before.
        Release = "release",
    }
}

/// A step with what it brings along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// With what was fixed.
    Approve(Approval),
    /// With who sends it from now on.
    Reassign(SentBy),
    /// With what a command is at, where one sends it.
    Process(Option<Sending>),
    /// With the transaction.
    Pay(String),
    /// With the reason, where there is one to tell.
    Fail(Option<String>),
    /// With the reason, where there is one to tell.
    Reject(Option<String>),
    /// With the reason, where there is one to tell.
    Cancel(Option<String>),
    /// With nothing.
    Release,
}

impl Step {
    /// Fields that a person had to insist on.
    pub fn insisted_on(&self) -> Vec<&'static str> {
        match self {
            Step::Approve(approval) => approval.insisted_on.clone(),
            Step::Reassign(_)
            | Step::Process(_)
            | Step::Pay(_)
            | Step::Fail(_)
            | Step::Reject(_)
            | Step::Cancel(_)
            | Step::Release => Vec::new(),
        }
    }

    /// Which action this is.
    pub const fn action(&self) -> TransferAction {
        match self {
            Step::Approve(_) => TransferAction::Approve,
            Step::Reassign(_) => TransferAction::Reassign,
            Step::Process(_) => TransferAction::Process,
            Step::Pay(_) => TransferAction::Pay,
            Step::Fail(_) => TransferAction::Fail,
            Step::Reject(_) => TransferAction::Reject,
            Step::Cancel(_) => TransferAction::Cancel,
            Step::Release => TransferAction::Release,
        }
    }
}

/// A step as a person asks for it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What is to be done.
    pub action: TransferAction,
    /// What goes with `approve`, and with `reassign`.
    pub approval: ApprovalRequest,
    txid: Option<String>,
    reason: Option<String>,
}

impl Wanted {
    /// Reads a step: `action`, and of `known` what goes with it.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    pub fn parse(body: &Map<String, Value>, known: &[&str]) -> Result<Wanted, Refusal> {
        let fields = Fields::of(body);
        fields.only(known)?;
        let action: Option<TransferAction> = fields.choice("action")?;
        let action = action.ok_or_else(|| {
            let texts = TransferAction::TEXTS.join(", ");
            Refusal::field("action", format!("must be one of {texts}"))
        })?;
        let goes_with = |name: &str| match action {
            TransferAction::Approve => APPROVAL_FIELDS.contains(&name),
            TransferAction::Reassign => name == "sentBy",
            TransferAction::Process | TransferAction::Release => false,
            TransferAction::Pay => name == "txid",
            TransferAction::Fail | TransferAction::Reject | TransferAction::Cancel => {
                name == "reason"
            }
        };
        let mut stray = known
            .iter()
            .filter(|name| **name != "action" && !goes_with(name));
        if let Some(name) = stray.find(|name| fields.get(name).is_some()) {
            let problem = format!("does not go with action \"{action}\"");
            return Err(Refusal::field(name, problem));
        }
        let text = |name: &str, chars_max: usize| {
            let text = fields.text(name, 1..=chars_max)?;
            Ok(text.map(str::to_owned))
        };
        Ok(Wanted {
            action,
            approval: ApprovalRequest::parse(&fields)?,
            txid: text("txid", TXID_CHARS_MAX)?,
            reason: text("reason", REASON_CHARS_MAX)?,
        })
    }

    /// The step, where it is neither approval nor reassignment; `simulated_txid` stands in for a txid that is left out.
    ///
    /// # Errors
    /// `invalid_request` that names what is wrong or missing.
    pub fn step(&self, simulated_txid: Option<String>) -> Result<Option<Step>, Refusal> {
        let missing = || Refusal::field("txid", "must be given: the transaction that sent it");
        Ok(Some(match self.action {
            TransferAction::Approve | TransferAction::Reassign => return Ok(None),
            TransferAction::Process => Step::Process(None),
            TransferAction::Pay => Step::Pay(match &self.txid {
                Some(text) => txid(text)?,
                None => simulated_txid.ok_or_else(missing)?,
            }),
            TransferAction::Fail => Step::Fail(self.reason.clone()),
            TransferAction::Reject => Step::Reject(self.reason.clone()),
            TransferAction::Cancel => Step::Cancel(self.reason.clone()),
            TransferAction::Release => Step::Release,
        }))
    }
}

/// Reads a transaction id: printable ASCII without spaces.
///
/// # Errors
/// `invalid_request` for anything else.
pub fn txid(text: &str) -> Result<String, Refusal> {
    let fits = (1..=TXID_CHARS_MAX).contains(&text.len());
    if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        let problem =
            format!("must be 1 to {TXID_CHARS_MAX} printable ASCII characters without spaces");
        Err(Refusal::field("txid", problem))
    }
}

#[cfg(test)]
mod tests {
    use super::txid;

    #[test]
    fn a_transaction_id_is_printable() {
        assert!(txid("0xabc").is_ok());
        for wrong in ["", "a b", "ä", "a\n", &"a".repeat(129)] {
            assert!(txid(wrong).is_err(), "{wrong}");
        }
    }
}
