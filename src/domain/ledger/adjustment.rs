//! Request body of a ledger correction.

use crate::domain::fields::rule::choice;
use crate::domain::fields::text_rule::text;
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema};
use crate::domain::money::{Cents, Currency};
use crate::domain::refusal::Refusal;

/// Longest amount, in characters. No realistic number of such amounts overflows a balance.
const AMOUNT_CHARS_MAX: usize = 13;
const MEMO_CHARS_MAX: usize = 500;

input! {
    /// A correction of a ledger.
    pub CreateAdjustment, checked currency, amount, memo; unknown refused {
        /// Currency of the balance.
        expected currency: Currency = choice(), "EUR";
        /// Signed amount; not zero.
        required amount: Cents = SignedAmountRule, "-12.50";
        /// Reason, which the entry keeps.
        required memo: String = text(1..=MEMO_CHARS_MAX).required_or("must be given, as the reason"),
            "Refunded by hand, ticket 4711";
    }
}

struct SignedAmountRule;

impl Rule for SignedAmountRule {
    type Value = Cents;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Cents>, Refusal> {
        let problem = "must be a decimal like \"-12.50\", not zero, with at most two decimals";
        let text = fields.text(name, 1..=AMOUNT_CHARS_MAX)?;
        let amount = text.map(Cents::parse_signed).transpose();
        amount.map_err(|_| Refusal::field(name, problem))
    }

    fn json_schema(&self) -> Keywords {
        const SCHEMA: Schema = schema!({
            "type": "string",
            "pattern": "^-?(0*[1-9][0-9]{0,9}(\\.[0-9]{1,2})?|0+\\.(0[1-9]|[1-9][0-9]?))$",
            "maxLength": 13
        });
        SCHEMA.json_schema()
    }
}
