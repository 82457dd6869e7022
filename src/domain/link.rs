//! Payment links: public pages on which a payer creates an invoice and pays it.
//!
//! Invariant: a stored link has a name, and a price that is positive or absent.

use super::asset::Mode;
use super::fields::rule::{FlagRule, OrNull, choice};
use super::fields::text_rule::{TextRule, text};
use super::fields::{Fields, Keywords, Rule, input};
use super::invoice::draft::PriceRule;
use super::money::{Cents, Currency};
use super::refusal::{Refusal, RefusalCode};
use super::time::Time;
use std::ops::RangeInclusive;

/// Allowed length of a link's name, in characters.
const NAME_CHARS: RangeInclusive<usize> = 1..=200;
/// Rule for a description, with the same limit as the description of an invoice.
const DESCRIPTION: OrNull<TextRule> = OrNull(text(0..=500));

/// Largest number of open, unpaid invoices of one link.
pub const OPEN_INVOICES_MAX: i64 = 600;

/// A payment link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentLink {
    /// Row number, in order of insertion. Lists are paged in this order.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// `seq` of the merchant's account.
    pub account: i64,
    /// Mode of the invoices that the link creates.
    pub mode: Mode,
    /// Name of the product or service that is sold.
    pub name: String,
    /// Price; `None` if the payer enters the amount.
    pub amount: Option<Cents>,
    /// Currency of the price.
    pub currency: Currency,
    /// Description for the payer.
    pub description: Option<String>,
    /// `true` if the public page of the link can be opened.
    pub active: bool,
    /// Time of creation.
    pub created_at: Time,
}

input! {
    /// A payment link to create. Null means absent.
    pub(crate) CreatePaymentLink, checked currency, name, amount, description, active; unknown refused {
        expected name: String = LinkNameRule, "A coffee";
        /// Price; absent if the payer chooses it.
        optional amount: Cents = LinkPriceRule, "3.50";
        required currency: Currency = choice().required_or("must be EUR or USD"), "EUR";
        optional description: String = DESCRIPTION, "Thank you!";
        or(true) active: bool = OrNull(FlagRule);
    }
}

input! {
    /// Changes of a payment link. Absent fields stay as they are.
    pub(crate) ChangePaymentLink, checked name, amount, description, active; unknown refused {
        optional name: String = LinkNameRule;
        /// Price; null if the payer chooses it.
        change amount: Cents = LinkPriceRule;
        /// Description; null removes it.
        change description: String = DESCRIPTION;
        /// Whether the link is on. The URL of a link that is off answers 404.
        optional active: bool = OrNull(FlagRule), false;
    }
}

impl PaymentLink {
    /// Returns the link that a request describes. The caller sets `seq`, `id` and `account`.
    ///
    /// # Errors
    /// `invalid_request` if the body has no name.
    pub(crate) fn new(
        body: CreatePaymentLink,
        mode: Mode,
        now: Time,
    ) -> Result<PaymentLink, Refusal> {
        let problem = "must be given: what is paid for";
        Ok(PaymentLink {
            seq: 0,
            id: String::new(),
            account: 0,
            mode,
            name: body.name.ok_or_else(|| Refusal::field("name", problem))?,
            amount: body.amount,
            currency: body.currency,
            description: body.description,
            active: body.active,
            created_at: now,
        })
    }

    /// Applies a change to the link. Absent fields keep their values.
    pub(crate) fn apply(&mut self, change: ChangePaymentLink) {
        let ChangePaymentLink { name, amount, description, active } = change;
        self.name = name.unwrap_or_else(|| std::mem::take(&mut self.name));
        self.amount = amount.unwrap_or(self.amount);
        self.description = description.unwrap_or_else(|| self.description.take());
        self.active = active.unwrap_or(self.active);
    }
}

/// Rule for the name of a link, which must not be blank.
struct LinkNameRule;

impl Rule for LinkNameRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let text = fields.name(name, NAME_CHARS)?.map(str::trim);
        if fields.contains(name) && text.is_none_or(str::is_empty) {
            return Err(Refusal::field(name, "must say what is paid for"));
        }
        Ok(text.map(str::to_owned))
    }

    fn json_schema(&self) -> Keywords {
        text(NAME_CHARS)
            .with_pattern(*NAME_CHARS.start(), "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$")
            .json_schema()
    }
}

/// Rule for the price of a link.
struct LinkPriceRule;

impl Rule for LinkPriceRule {
    type Value = Cents;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Cents>, Refusal> {
        if fields.get(name).is_none() {
            return Ok(None);
        }
        let price = PriceRule.read(fields, name)?.flatten();
        price.ok_or_else(price_too_large_refusal).map(Some)
    }

    fn json_schema(&self) -> Keywords {
        OrNull(PriceRule).json_schema()
    }
}

/// Returns the refusal of a price that overflows.
fn price_too_large_refusal() -> Refusal {
    let message = "amount is larger than any account allows";
    Refusal::for_param(RefusalCode::AmountTooLarge, "amount", message)
}
