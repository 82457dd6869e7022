//! Request bodies for payments on simulated chains.

use crate::domain::fields::rule::{
    DescribedRule, FlagRule, ListRule, OrNull, choice, described, integer,
};
use crate::domain::fields::text_rule::{TextRule, text};
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema, schema_from_keywords};
use crate::domain::observation::OUTPUTS_MAX;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::text_enum;
use serde_json::{Number, Value, json};

/// Highest accepted position of an output or a log in its transaction.
const POSITION_MAX: i64 = 0x7fff_ffff;

/// Largest number of confirmations of a payment on a simulated chain.
const CONFIRMATIONS_MAX: i64 = 100_000;

text_enum! {
    /// Step of a payment on its simulated chain.
    pub enum SandboxPaymentStep {
        /// A dropped payment is seen again.
        Seen = "seen",
        /// The block of the payment becomes final.
        Confirmed = "confirmed",
        /// The payment disappears from its chain.
        Dropped = "dropped",
        /// A reorg removes the payment's block: the payment is seen again, without confirmations.
        Orphaned = "orphaned",
        /// Another transaction replaces the payment's transaction.
        Replaced = "replaced",
    }
}

input! {
    /// A payment on a simulated chain, to an invoice or an address, or a transaction with several outputs. Exactly
    /// one of invoice, address and outputs; null means absent.
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
        /// Coin of the payment; default: the invoice's selected coin, else one that is selected now, or the only coin
        /// of a customer's address.
        optional asset: String = ASSET, "LTC";
        /// Amount in whole coins; default: the amount due on the invoice.
        optional amount: String = CoinAmountRule, "0.25";
        /// Transaction id; default: a new one.
        optional txid: String = TXID;
        /// Outputs of one transaction, all of one chain and mode. Worthless outputs are not recorded; an
        /// output that cannot be booked becomes an unmatched payment. With outputs, only txid, seenAt, spends and
        /// coinbase may also be given.
        optional outputs: Vec<Value> = OutputsRule;
        /// Time of the payment; default: now. An earlier time is allowed only on a chain that lags, from its
        /// scannedTo on.
        optional seen_at: String = described(text(1..=40), Schema::MOMENT);
        /// Whether the transaction is a coinbase, which matches nothing. On utxo chains only, with outputs only, and
        /// without spends.
        optional coinbase: bool = FlagRule;
        /// With outputs only: payments that the transaction spends. Money that one of our addresses sends is our own
        /// and is not booked.
        optional spends: Vec<Value> = described(ListRule, SPENDS);
    }
}

input! {
    /// An output to an invoice or an address. Exactly one of the two; null means absent.
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
        /// Coin of the payment; default: the invoice's selected coin, else one that is selected now, or the only coin
        /// of a customer's address.
        optional asset: String = ASSET;
        /// Amount in whole coins; default: the amount due on the invoice.
        optional amount: String = CoinAmountRule;
        /// Index in the transaction; default: index in the list, from 0.
        optional position: i64 = integer(0..=POSITION_MAX);
    }
}

input! {
    /// Change of a payment on its simulated chain: exactly one of state and confirmations; null means absent.
    pub SandboxPaymentState, checked state, confirmations, amount, txid; unknown refused, besides {
        "oneOf": [
            { "required": ["state"], "properties": { "state": { "type": "string" } } },
            { "required": ["confirmations"], "properties": { "confirmations": { "type": "integer" } } }
        ]
    } {
        /// confirmed, dropped, orphaned (its block was reorganised away, so it is seen again), replaced (dropped, and
        /// another one in its place), or seen (a dropped one returns).
        optional state: SandboxPaymentStep = OrNull(choice()), "confirmed";
        /// Number of confirmations of a seen payment, not fewer than it has. As many as it needs confirm it.
        optional confirmations: i64 = OrNull(integer(0..=CONFIRMATIONS_MAX));
        /// Amount of the payment that replaces this one, in whole coins; default: the same.
        optional amount: String = CoinAmountRule;
        /// Transaction id of the replacement; default: a new one.
        optional txid: String = TXID;
    }
}

const INVOICE: DescribedRule<TextRule> = described(text(1..=36), Schema::UUID);
const ADDRESS: TextRule = text(1..=128);
const ASSET: DescribedRule<TextRule> = described(text(1..=40), Schema::OrNull(&Schema::ASSET));
const TXID: TextRule = text(1..=128).with_pattern(1, "^[!-~]+$");
const SPENDS: Schema = schema!({
    "type": "array", "maxItems": 200,
    "items": { "type": "string", "format": "uuid", "description": "Id of a payment." }
});

/// Rule for an amount in whole coins, as a string or a number.
struct CoinAmountRule;

impl Rule for CoinAmountRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let Some(value) = fields.get(name) else {
            return Ok(None);
        };
        let text = value.as_str().or_else(|| value.as_number().map(Number::as_str));
        let problem = "must be a plain decimal like \"0.25\"";
        let text = text.ok_or_else(|| Refusal::field(name, problem))?;
        Ok(Some(text.to_owned()))
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([
            ("type", json!(["string", "number"])),
            ("pattern", json!("^[0-9]+(\\.[0-9]+)?$")),
            ("minimum", json!(0)),
        ])
    }
}

struct OutputsRule;

impl Rule for OutputsRule {
    type Value = Vec<Value>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Vec<Value>>, Refusal> {
        ListRule.read(fields, name)
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([
            ("type", json!("array")),
            ("minItems", json!(1)),
            ("maxItems", json!(OUTPUTS_MAX)),
            ("items", json!(SandboxOutput::OBJECT.json_schema())),
        ])
    }
}
