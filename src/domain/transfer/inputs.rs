//! Request bodies for payouts and refunds.
//!
//! Invariant: a field that does not belong to the requested action is refused.

use super::approval::APPROVAL_FIELDS;
use super::basis::RateBasis;
use super::sender::SentBy;
use super::step::{OF_OPERATOR, OF_SANDBOX, REASON_CHARS_MAX, SimulatedChainState, TransferAction};
use crate::domain::asset::Asset;
use crate::domain::fields::rule::{CoinRule, DescribedRule, FlagOrFalseRule, choice, described};
use crate::domain::fields::text_rule::{TextRule, text};
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema, schema_from_keywords};
use crate::domain::money::{AmountError, Cents, Currency};
use crate::domain::refusal::{Refusal, RefusalCode};
use serde_json::Value;

/// Longest transaction id, in characters.
pub const TXID_CHARS_MAX: usize = 128;

input! {
    /// A payout to request.
    pub CreatePayout, checked amount, currency; unknown refused {
        /// Fiat amount with at most two decimals, or all for the whole available balance.
        required amount: PayoutAmount = PayoutAmountRule, "150.00";
        /// Currency of the balance; default EUR.
        or(Currency::Eur) currency: Currency = choice().described_by_one_of(), "EUR";
    }
}

input! {
    /// A refund to request.
    pub RequestRefund, checked invoice, amount, asset, to_address, reason; unknown refused {
        /// Id of the invoice.
        required invoice: String = INVOICE, "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// Amount to refund, in the invoice's currency; default: the excess of an overpaid invoice, otherwise all that is left.
        optional amount: Cents = RefundAmountRule, "5.00";
        /// Coin of the refund; default: the invoice's coin.
        optional asset: &'static Asset = COIN;
        /// Recipient address on the coin's chain. Addresses of test networks are allowed only in test mode and in the
        /// sandbox. Contracts and mints of listed tokens, token programs, burn addresses, and litecoin addresses that
        /// start with 3 are refused.
        expected to_address: String = ADDRESS, "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl";
        /// Reason, for people.
        optional reason: String = REASON, "One ticket too many";
    }
}

input! {
    /// Request for a refund of an invoice. The invoice may be in test or live mode.
    pub SandboxRefund, checked invoice, amount, asset, to_address, reason; unknown refused {
        /// Id of the invoice.
        required invoice: String = INVOICE, "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// Amount to refund, in the invoice's currency; default: the excess of an overpaid invoice, otherwise all that is left.
        optional amount: Cents = RefundAmountRule, "5.00";
        /// Coin of the refund; default: the invoice's coin.
        optional asset: &'static Asset = COIN;
        /// Recipient address on the coin's chain; default: a fixed address.
        optional to_address: String = ADDRESS;
        /// Reason, for people.
        optional reason: String = REASON, "One ticket too many";
    }
}

input! {
    /// A step of a payout or refund.
    pub MoveTransfer, checked
        action, basis, rate, network_fee, accept_rate, accept_fee, sent_by, txid, reason, force, unverified, review;
    unknown refused {
        /// The action.
        required action: TransferAction = ActionRule { actions: &OF_OPERATOR, fields: MoveTransfer::NAMES }, "approve";
        /// Basis of a refund's rate, only with approve. received: the rate of what came in, so that the customer gets the same
        /// share of the coins; market: the fresh market rate. Default: received if coins of this kind came in.
        optional basis: RateBasis = choice().described_by_one_of(), "received";
        /// Fiat per whole coin, only with approve; default: the rate of the basis.
        optional rate: String = text(1..=40).with_pattern(0, "^[0-9]+(\\.[0-9]{1,10})?$");
        /// Accepts a rate more than 2 % from the rate of the basis, any rate without a fresh market rate, or a refund of more
        /// coins than its share of what came in; only with approve. A person sends it then.
        filled accept_rate: bool = FlagOrFalseRule;
        /// Network fee in whole coins, only with approve; default: the node's estimate, else the coin's setting.
        optional network_fee: String = text(1..=60).with_pattern(0, "^[0-9]+(\\.[0-9]+)?$");
        /// Accepts a network fee above a quarter of the amount; only with approve. A person sends it then.
        filled accept_fee: bool = FlagOrFalseRule;
        /// Sender; only with approve, reassign (which needs it) and the release of an approved transfer. Default: the
        /// signer if one is set, the chain has a node and signerLimit allows it, else a person. A release keeps hand.
        optional sent_by: SentBy = choice().described_by_one_of(), "hand";
        /// Transaction id in the chain's form. With pay: the transaction that sent it, attached until the chain has
        /// settled it. With dismiss: the transaction of a proposal, or all for each that is listed.
        optional txid: String = TXID;
        /// Reason, for people; with fail, reject, cancel, resolve and adjust. With pay it marks the transfer as paid
        /// at once, with or without a txid.
        optional reason: String = REASON;
        /// Returns the amount although the transfer was handed over and may still be sent; only with fail.
        filled force: bool = FlagOrFalseRule;
        /// Marks it as paid, or ends the hold of a restore, although its chain has no node; only with pay and release.
        filled unverified: bool = FlagOrFalseRule;
        /// Id of an open review; only with resolve and adjust, which need it.
        optional review: String = text(1..=64);
    }
}

input! {
    /// A step of a payout or refund.
    pub SandboxMoveTransfer, checked action, txid, reason, state; unknown refused {
        /// The action.
        required action: TransferAction = ActionRule { actions: &OF_SANDBOX, fields: SandboxMoveTransfer::NAMES }, "approve";
        /// Transaction id; only with pay; default: a new one.
        optional txid: String = TXID;
        /// Reason, for people; with fail, reject and cancel.
        optional reason: String = REASON;
        /// State on the simulated chain; only with chain, which needs it. seen: the transaction is in the mempool and
        /// pays the amount; confirmed: it is settled; short: it pays half; dropped: it is gone; other_address: it
        /// pays another address.
        optional state: SimulatedChainState = choice().described_by_one_of();
    }
}

const TXID: TextRule = text(1..=TXID_CHARS_MAX).with_pattern(1, "^[!-~]+$");
const REASON: TextRule = text(1..=REASON_CHARS_MAX);
const ADDRESS: TextRule = text(1..=128);
const COIN: DescribedRule<CoinRule> = described(CoinRule, Schema::OrNull(&Schema::ASSET));
const INVOICE: DescribedRule<TextRule> =
    described(text(1..=36).required_or("must be given: the id of what is refunded"), Schema::UUID);

/// Amount of a payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayoutAmount {
    /// The whole available balance.
    All,
    /// This amount of the currency.
    Exactly(Cents),
}

struct PayoutAmountRule;

impl Rule for PayoutAmountRule {
    type Value = PayoutAmount;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<PayoutAmount>, Refusal> {
        let text = fields.get(name).and_then(Value::as_str);
        let text = text
            .ok_or_else(|| Refusal::field(name, "must be a string like \"25.00\", or \"all\""))?;
        // The currency is read first: its error comes before the error of a malformed amount.
        CreatePayout::currency(fields)?;
        if text == "all" {
            return Ok(Some(PayoutAmount::All));
        }
        let form = "must be more than zero with at most two decimals, or \"all\"";
        Ok(Some(PayoutAmount::Exactly(parse_cents(name, text, form)?)))
    }

    fn json_schema(&self) -> Keywords {
        const SCHEMA: Schema = schema!({
            "type": "string",
            "pattern": "^(all|[0-9]*[1-9][0-9]*(\\.[0-9]{1,2})?|0+\\.(0[1-9]|[1-9][0-9]?))$"
        });
        SCHEMA.json_schema()
    }
}

struct RefundAmountRule;

impl Rule for RefundAmountRule {
    type Value = Cents;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Cents>, Refusal> {
        let Some(value) = fields.get(name) else {
            return Ok(None);
        };
        let text =
            value.as_str().ok_or_else(|| Refusal::field(name, "must be a string like \"5.00\""))?;
        let form = "must be more than zero with at most two decimals";
        parse_cents(name, text, form).map(Some)
    }

    fn json_schema(&self) -> Keywords {
        const SCHEMA: Schema = schema!({
            "type": "string", "pattern": "^([0-9]*[1-9][0-9]*(\\.[0-9]{1,2})?|0+\\.(0[1-9]|[1-9][0-9]?))$"
        });
        SCHEMA.json_schema()
    }
}

/// Reads an amount. `form` describes the valid form.
///
/// # Errors
/// `invalid_amount` for a text of another form.
fn parse_cents(name: &str, text: &str, form: &str) -> Result<Cents, Refusal> {
    Cents::parse(text).map_err(|error| {
        let problem = match error {
            AmountError::Malformed => form,
            AmountError::TooLarge => "is too large",
        };
        Refusal::for_param(RefusalCode::InvalidAmount, name, format!("{name} {problem}"))
    })
}

/// Rule for the name of an action. Fields that do not belong to the action are refused, since the client expected
/// them to have an effect.
struct ActionRule {
    actions: &'static [TransferAction],
    fields: &'static [&'static str],
}

impl ActionRule {
    fn action_texts(&self) -> Vec<&'static str> {
        self.actions.iter().map(|action| action.as_str()).collect()
    }
}

impl Rule for ActionRule {
    type Value = TransferAction;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<TransferAction>, Refusal> {
        let found = fields.choice::<TransferAction>(name).ok().flatten();
        let found = found.filter(|action| self.actions.contains(action));
        let Some(action) = found else {
            let problem = format!("must be one of {}", self.action_texts().join(", "));
            return Err(Refusal::field(name, problem));
        };
        let mut stray = self.fields.iter();
        let is_stray = |field: &&&str| **field != name && !is_field_of(action, field);
        if let Some(field) = stray.find(|field| is_stray(field) && fields.get(field).is_some()) {
            let problem = format!("is not allowed with action \"{action}\"");
            return Err(Refusal::field(field, problem));
        }
        Ok(Some(action))
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([
            ("type", Value::from("string")),
            ("enum", Value::from(self.action_texts())),
        ])
    }
}

fn is_field_of(action: TransferAction, name: &str) -> bool {
    match action {
        TransferAction::Approve => APPROVAL_FIELDS.contains(&name),
        TransferAction::Reassign => name == "sentBy",
        TransferAction::Release => ["sentBy", "unverified"].contains(&name),
        TransferAction::Process | TransferAction::Detach => false,
        TransferAction::Pay => ["txid", "reason", "unverified"].contains(&name),
        TransferAction::Fail => ["reason", "force"].contains(&name),
        TransferAction::Reject | TransferAction::Cancel => name == "reason",
        TransferAction::Dismiss => name == "txid",
        TransferAction::Resolve | TransferAction::Adjust => ["review", "reason"].contains(&name),
        TransferAction::Chain => name == "state",
    }
}
