//! The steps of a transfer: what is done to it, and how somebody asks for that.
//!
//! What lives here: the actions, their bodies, and what each needs. What does not: whether a step is possible from
//! the transfer's status ([`TransferStatus::after`](super::TransferStatus::after)). What always holds: a field that
//! does not belong to the action is refused, because somebody meant something by it.

use super::terms::Terms;
use super::{Sending, Transfer};
use crate::domain::asset::Asset;
use crate::domain::fields::Fields;
use crate::domain::money::coin::{Rate, Units};
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
    Approve(Terms),
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
    /// Which action this is.
    pub const fn action(&self) -> TransferAction {
        match self {
            Step::Approve(_) => TransferAction::Approve,
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
    rate: Option<String>,
    network_fee: Option<String>,
    txid: Option<String>,
    reason: Option<String>,
}

/// What stands in for what a person leaves out; only where chains are simulated.
pub struct Simulated {
    /// The fixed network fee.
    pub network_fee: Units,
    /// A transaction that nobody sent.
    pub txid: String,
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
            TransferAction::Approve => ["rate", "networkFee"].contains(&name),
            TransferAction::Process | TransferAction::Release => false,
            TransferAction::Pay => name == "txid",
            TransferAction::Fail | TransferAction::Reject | TransferAction::Cancel => {
                name == "reason"
            }
        };
        let text = |name: &str, chars_max: usize| {
            let text = fields.text(name, 1..=chars_max)?;
            if text.is_some() && !goes_with(name) {
                let problem = format!("does not go with action \"{action}\"");
                return Err(Refusal::field(name, problem));
            }
            Ok(text.map(str::to_owned))
        };
        Ok(Wanted {
            action,
            rate: text("rate", 40)?,
            network_fee: text("networkFee", 60)?,
            txid: text("txid", TXID_CHARS_MAX)?,
            reason: text("reason", REASON_CHARS_MAX)?,
        })
    }

    /// The step for this transfer; a rate that is left out is `today`'s, where there is one; the
    /// rest is taken from `simulated`.
    ///
    /// # Errors
    /// `invalid_request` that names what is wrong or missing.
    pub fn step(
        self,
        of: &Transfer,
        today: Option<Rate>,
        simulated: Option<Simulated>,
    ) -> Result<Step, Refusal> {
        let missing =
            |name: &str, what: &str| Refusal::field(name, format!("must be given: {what}"));
        let simulated = simulated.as_ref();
        Ok(match self.action {
            TransferAction::Approve => {
                let rate = match self.rate {
                    Some(text) => rate(&text)?,
                    None => today.ok_or_else(|| missing("rate", "fiat for one coin"))?,
                };
                let network_fee = match self.network_fee {
                    Some(text) => network_fee(&text, of.asset)?,
                    None => simulated
                        .map(|simulated| simulated.network_fee)
                        .ok_or_else(|| missing("networkFee", "what sending costs, in the coin"))?,
                };
                Step::Approve(Terms::new(of.amount, of.asset, rate, network_fee)?)
            }
            TransferAction::Process => Step::Process(None),
            TransferAction::Pay => Step::Pay(match self.txid {
                Some(text) => txid(&text)?,
                None => simulated
                    .map(|simulated| simulated.txid.clone())
                    .ok_or_else(|| missing("txid", "the transaction that sent it"))?,
            }),
            TransferAction::Fail => Step::Fail(self.reason),
            TransferAction::Reject => Step::Reject(self.reason),
            TransferAction::Cancel => Step::Cancel(self.reason),
            TransferAction::Release => Step::Release,
        })
    }
}

/// Reads a rate: a plain positive decimal with at most ten places.
fn rate(text: &str) -> Result<Rate, Refusal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let places = usize::try_from(Rate::SCALE_MAX).unwrap_or(usize::MAX);
    let plain = digits(whole) && digits(fraction) && fraction.len() <= places;
    let rate = plain.then(|| text.parse().ok()).flatten();
    rate.ok_or_else(|| {
        let problem = format!("must be a positive decimal with at most {places} decimals");
        Refusal::field("rate", problem)
    })
}

/// Reads a network fee in whole coins; zero is one.
fn network_fee(text: &str, asset: &Asset) -> Result<Units, Refusal> {
    Units::parse(text, asset.decimals).map_err(|problem| Refusal::field("networkFee", problem))
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
    use super::{rate, txid};

    #[test]
    fn a_rate_is_a_plain_decimal() {
        for right in ["60000", "0.92", "0.0000000001", "007.50"] {
            assert!(rate(right).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "0",
            "0.0",
            "-1",
            "+1",
            "1e3",
            "1_000",
            ".5",
            "5.",
            "0.00000000001",
            " 1",
            "1,5",
            "99999999999999999999",
        ] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_transaction_id_is_printable() {
        assert!(txid("0xabc").is_ok());
        for wrong in ["", "a b", "ä", "a\n", &"a".repeat(129)] {
            assert!(txid(wrong).is_err(), "{wrong}");
        }
    }
}
