//! The payment link: a page on which whoever opens it makes an invoice and pays it.
//!
//! What lives here: the link, and every rule on what a merchant sends to make or change one. What does not: rules that
//! need the account or the file. What always holds: a link that exists has a name, and a price that is positive or none.

use super::asset::Mode;
use super::fields::Fields;
use super::invoice::draft;
use super::money::{Cents, Currency};
use super::refusal::{Code, Refusal};
use super::time::Time;
use std::ops::RangeInclusive;

/// How long a name may be, in characters.
const NAME_CHARS: RangeInclusive<usize> = 1..=200;
/// How long a description may be, in characters: as an invoice's.
const DESCRIPTION_CHARS: RangeInclusive<usize> = 0..=500;

/// Open invoices of one link that nobody has paid yet.
pub const OPEN_INVOICES_MAX: i64 = 600;

/// A payment link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentLink {
    /// Order of insertion; pages go by it.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// Whose it is.
    pub account: i64,
    /// Live or test: what its invoices are.
    pub mode: Mode,
    /// What is paid for.
    pub name: String,
    /// The price; nothing: the payer names it.
    pub amount: Option<Cents>,
    /// What the price is in.
    pub currency: Currency,
    /// For people.
    pub description: Option<String>,
    /// Can it be opened?
    pub active: bool,
    /// When it was made.
    pub created_at: Time,
}

/// What of a link is wanted otherwise than it is; what is not named stays.
#[derive(Clone, Debug, Default)]
pub struct LinkChange {
    name: Option<String>,
    amount: Option<Option<Cents>>,
    description: Option<Option<String>>,
    active: Option<bool>,
}

impl PaymentLink {
    /// The link of a body, without a place in the file: `seq`, `id` and `account` are the caller's to give.
    ///
    /// # Errors
    /// `invalid_request` that names the first field that is wrong.
    pub fn parse(fields: &Fields<'_>, mode: Mode, now: Time) -> Result<PaymentLink, Refusal> {
        fields.only(&["name", "amount", "currency", "description", "active"])?;
        let mut link = PaymentLink {
            seq: 0,
            id: String::new(),
            account: 0,
            mode,
            name: String::new(),
            amount: None,
            currency: fields
                .choice("currency")?
                .ok_or_else(|| Refusal::field("currency", "must be EUR or USD"))?,
            description: None,
            active: true,
            created_at: now,
        };
        let change = LinkChange::parse(fields)?;
        if change.name.is_none() {
            return Err(Refusal::field("name", "must be given: what is paid for"));
        }
        link.apply(change);
        Ok(link)
    }

    /// Changes what is wanted otherwise.
    pub fn apply(&mut self, change: LinkChange) {
        let LinkChange {
            name,
            amount,
            description,
            active,
        } = change;
        self.name = name.unwrap_or_else(|| std::mem::take(&mut self.name));
        self.amount = amount.unwrap_or(self.amount);
        self.description = description.unwrap_or_else(|| self.description.take());
        self.active = active.unwrap_or(self.active);
    }
}

impl LinkChange {
    /// Reads `name`, `amount`, `description` and `active`; null takes the price or the description away.
    ///
    /// # Errors
    /// `invalid_request` that names the first field that is wrong.
    pub fn parse(fields: &Fields<'_>) -> Result<LinkChange, Refusal> {
        let name = fields.name("name", NAME_CHARS)?.map(str::trim);
        if fields.names("name") && name.is_none_or(str::is_empty) {
            return Err(Refusal::field("name", "must say what is paid for"));
        }
        let amount = match fields.get("amount") {
            None => fields.names("amount").then_some(None),
            Some(_) => Some(Some(draft::amount(fields)?.ok_or_else(too_large)?)),
        };
        let description = fields.text("description", DESCRIPTION_CHARS)?;
        Ok(LinkChange {
            name: name.map(str::to_owned),
            amount,
            description: fields
                .names("description")
                .then(|| description.map(str::to_owned)),
            active: fields.flag("active")?,
        })
    }
}

/// A price that is larger than can be counted.
fn too_large() -> Refusal {
    let message = "amount is larger than any account allows";
    Refusal::of(Code::AmountTooLarge, "amount", message)
}
