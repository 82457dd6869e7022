//! Request bodies for payments on simulated chains.

use crate::domain::fields::rule::{DescribedRule, FlagRule, ListRule, choice, described, integer};
use crate::domain::fields::text_rule::{TextRule, text};
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, keywords, schema};
use crate::domain::observation::OUTPUTS_MAX;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::text_enum;
use serde_json::{Number, Value, json};

/// Highest index of an output or a log.
const POSITION_MAX: i64 = 0x7fff_ffff;

text_enum! {
    /// Step of a payment on its simulated chain.
    pub enum SandboxStep {
        /// A dropped payment appears again.
        Seen = "seen",
        /// The block of the payment becomes final.
        Confirmed = "confirmed",
        /// The payment disappears.
        Dropped = "dropped",
        /// The block is reorganized away, and the payment is seen again.
        Orphaned = "orphaned",
        /// Another transaction replaces it.
        Replaced = "replaced",
    }
}

input! {
    /// A payment to be seen on a simulated chain, to an invoice or to an address, be it an invoice's, a customer's or
    /// nobody's; or a transaction of several outputs. Exactly one of invoice, address and outputs; null means absent.
    pub SandboxPayment, checked invoice, address, asset, amount, txid, outputs, seen_at, coinbase, spends;
    unknown refused, besides {
        "oneOf": [
            { "required": ["invoice"], "properties": { "invoice": { "type": "string" } } },
            { "required": ["address"], "properties": { "address": { "type": "string" } } },
            { "required": ["outputs"], "properties": { "outputs": { "type": "array" } } }
        ]
    } {
        /// Id of the invoice to pay, of either mode.
        optional invoice: String = INVOICE, "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// Address to pay to.
        optional address: String = ADDRESS;
        /// Coin to pay with; default: the coin picked for the invoice, picked first where there is no quote yet; the
        /// only coin that a customer's address takes.
        optional asset: String = ASSET, "LTC";
        /// Amount in whole coins; default: what is due on an invoice.
        optional amount: String = CoinAmountRule, "0.25";
        /// Transaction id; default: a new one.
        optional txid: String = TXID;
        /// The outputs of one transaction, all of one chain and mode. What is worth nothing is not recorded, what cannot
        /// be booked is kept as a payment that matched nothing; only txid, seenAt, spends and coinbase go beside it.
        optional outputs: Vec<Value> = OutputsRule;
        /// When it was made; default: now. An earlier moment only on a chain that lags, from its scannedTo on.
        optional seen_at: String = described(text(1..=40), Schema::MOMENT);
        /// Is the money newly made, for whoever found a block? It matches nothing then. On utxo chains only, with
        /// outputs only, and with nothing in spends.
        optional coinbase: bool = FlagRule;
        /// With outputs only: the payments whose money the transaction moves on. What an address of ours sends is our
        /// own: it is kept as such and books nothing.
        optional spends: Vec<Value> = described(ListRule, SPENDS);
    }
}

input! {
    /// An output: to an invoice or to an address, exactly one of the two; null means absent.
    pub SandboxOutput, checked invoice, address, asset, amount, position; unknown refused, besides {
        "oneOf": [
            { "required": ["invoice"], "properties": { "invoice": { "type": "string" } } },
            { "required": ["address"], "properties": { "address": { "type": "string" } } }
        ]
    } {
        /// Id of the invoice to pay, of either mode.
        optional invoice: String = INVOICE;
        /// Address to pay to.
        optional address: String = ADDRESS;
        /// Coin to pay with; default: the coin picked for the invoice, picked first where there is no quote yet; the
        /// only coin that a customer's address takes.
        optional asset: String = ASSET;
        /// Amount in whole coins; default: what is due on an invoice.
        optional amount: String = CoinAmountRule;
        /// Its place in the transaction; default: its place in the list, from 0 on.
        optional position: i64 = integer(0..=POSITION_MAX);
    }
}

input! {
    /// What becomes of a payment on its simulated chain.
    pub SandboxPaymentState, checked state, amount, txid; unknown refused {
        /// Confirmed, dropped, orphaned (its block was reorganised away: seen again), replaced (dropped, and another in
        /// its place), or seen (a dropped one comes back).
        required state: SandboxStep = choice().or_refused("must be one of seen, confirmed, dropped, orphaned, replaced"), "confirmed";
        /// Amount of the payment that replaces this one, in whole coins; default: the same.
        optional amount: String = CoinAmountRule;
        /// Transaction that replaces it; default: a new one.
        optional txid: String = TXID;
    }
}

const INVOICE: DescribedRule<TextRule> = described(text(1..=36), Schema::UUID);
const ADDRESS: TextRule = text(1..=128);
const ASSET: DescribedRule<TextRule> = described(text(1..=40), Schema::OrNull(&Schema::ASSET));
const TXID: TextRule = text(1..=128).of_form(1, "^[!-~]+$");
const SPENDS: Schema = schema!({
    "type": "array", "maxItems": 200,
    "items": { "type": "string", "format": "uuid", "description": "Id of a payment." }
});

/// An amount in whole coins, as a string or a number.
struct CoinAmountRule;

impl Rule for CoinAmountRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let Some(value) = fields.get(name) else {
            return Ok(None);
        };
        let text = value
            .as_str()
            .or_else(|| value.as_number().map(Number::as_str));
        let problem = "must be a plain decimal like \"0.25\"";
        let text = text.ok_or_else(|| Refusal::field(name, problem))?;
        Ok(Some(text.to_owned()))
    }

    fn keywords(&self) -> Keywords {
        keywords([
            ("type", json!(["string", "number"])),
            ("pattern", json!("^[0-9]+(\\.[0-9]+)?$")),
            ("minimum", json!(0)),
        ])
    }
}

/// Outputs of a transaction.
struct OutputsRule;

impl Rule for OutputsRule {
    type Value = Vec<Value>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Vec<Value>>, Refusal> {
        ListRule.read(fields, name)
    }

    fn keywords(&self) -> Keywords {
        keywords([
            ("type", json!("array")),
            ("minItems", json!(1)),
            ("maxItems", json!(OUTPUTS_MAX)),
            ("items", json!(SandboxOutput::OBJECT.keywords())),
        ])
    }
}
