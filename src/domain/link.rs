//! Payment links: public pages on which a payer creates an invoice and pays it.
//!
//! Invariant: a stored link has a name, a price that is positive or absent, and an expiry later than its creation.

use super::asset::Mode;
use super::fields::rule::{FlagRule, IntegerRule, OrNull, choice, described, integer};
use super::fields::text_rule::{TextRule, UrlRule, parsed, site_or_app_url, text};
use super::fields::{Fields, Keywords, Rule, Schema, input, schema};
use super::invoice::draft::PriceRule;
use super::money::{Cents, Currency};
use super::picture::PictureInfo;
use super::refusal::{Refusal, RefusalCode};
use super::text_enum::text_enum;
use super::time::Time;
use std::ops::RangeInclusive;

/// Allowed length of a link's name, in characters.
const NAME_CHARS: RangeInclusive<usize> = 1..=200;
/// Rule for a description, with the same limit as the description of an invoice.
const DESCRIPTION: OrNull<TextRule> = OrNull(text(0..=500));

/// Rule for the URL of payers who have paid, the same as for an invoice.
const REDIRECT_URL: OrNull<UrlRule> = OrNull(site_or_app_url());
const PAID_USES_MAX: OrNull<IntegerRule> = OrNull(integer(1..=100_000));
const MOMENT_OR_NULL: Schema =
    schema!({ "type": ["string", "null"], "format": "date-time", "maxLength": 40 });

/// Largest number of open, unpaid invoices of one link.
pub const OPEN_INVOICES_MAX: i64 = 600;

/// Largest number of pictures of all links of one account.
pub const PICTURES_MAX: i64 = 1000;

text_enum! {
    /// State of a payment link, which determines whether its page creates invoices.
    pub enum LinkState {
        /// The page creates invoices.
        Open = "open",
        /// The link is switched off, so its page cannot be opened.
        Off = "off",
        /// The expiry has passed.
        Expired = "expired",
        /// The limit of paid uses is reached.
        UsedUp = "used_up",
    }
}

/// Uses of a payment link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkUses {
    /// Number of its invoices that are paid.
    pub paid: i64,
    /// Number of its invoices with a payment that is not confirmed yet.
    pub unconfirmed: i64,
}

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
    /// Time from which the link creates no invoice; `None` for no expiry.
    pub expires_at: Option<Time>,
    /// Number of paid uses from which the link creates no invoice; `None` for no limit.
    pub paid_uses_max: Option<i64>,
    /// URL for payers who have paid; `None` for the success URL of the account.
    pub redirect_url: Option<String>,
    /// Picture of the link; `None` without one.
    pub picture: Option<PictureInfo>,
    /// Time of creation.
    pub created_at: Time,
}

input! {
    /// A payment link to create. Null means absent.
    pub(crate) CreatePaymentLink, checked currency, name, amount, description, active, expires_at, paid_uses_max,
    redirect_url; unknown refused {
        expected name: String = LinkNameRule, "A coffee";
        /// Price; absent if the payer chooses it.
        optional amount: Cents = LinkPriceRule, "3.50";
        required currency: Currency = choice().required_or("must be EUR or USD"), "EUR";
        optional description: String = DESCRIPTION, "Thank you!";
        or(true) active: bool = OrNull(FlagRule);
        /// Time from which the link makes no invoice, in the future; default: no end.
        optional expires_at: Time = described(parsed(text(1..=40), str::parse), MOMENT_OR_NULL);
        /// Number of paid uses after which the link makes no invoice; default: no limit.
        optional paid_uses_max: i64 = PAID_USES_MAX;
        /// URL for the payer after payment, as redirectUrl of an invoice; default: success URL of the checkout
        /// settings.
        optional redirect_url: String = REDIRECT_URL;
    }
}

input! {
    /// Changes of a payment link. Absent fields stay as they are.
    pub(crate) ChangePaymentLink, checked name, amount, description, active, expires_at, paid_uses_max, redirect_url;
    unknown refused {
        optional name: String = LinkNameRule;
        /// Price; null if the payer chooses it.
        change amount: Cents = LinkPriceRule;
        /// Description; null removes it.
        change description: String = DESCRIPTION;
        /// Whether the link is on. The URL of a link that is off answers 404.
        optional active: bool = OrNull(FlagRule), false;
        /// Time from which the link makes no invoice, in the future; null removes it.
        change expires_at: Time = described(parsed(text(1..=40), str::parse), MOMENT_OR_NULL);
        /// Number of paid uses after which the link makes no invoice; null removes the limit. It may be less than the
        /// uses so far.
        change paid_uses_max: i64 = PAID_USES_MAX;
        /// URL for the payer after payment; null removes it.
        change redirect_url: String = REDIRECT_URL;
    }
}

impl PaymentLink {
    /// Returns the link that a request describes. The caller sets `seq`, `id` and `account`.
    ///
    /// # Errors
    /// `invalid_request` if the body has no name, or its expiry is not in the future.
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
            expires_at: check_expiry(body.expires_at, now)?,
            paid_uses_max: body.paid_uses_max,
            redirect_url: body.redirect_url,
            picture: None,
            created_at: now,
        })
    }

    /// Returns the state of the link. A payment that is not confirmed yet counts as a use, so that a link with one use
    /// left is not sold twice while its payment is confirmed.
    pub fn state(&self, uses: LinkUses, now: Time) -> LinkState {
        let used = uses.paid.saturating_add(uses.unconfirmed);
        if !self.active {
            LinkState::Off
        } else if self.expires_at.is_some_and(|end| now >= end) {
            LinkState::Expired
        } else if self.paid_uses_max.is_some_and(|most| used >= most) {
            LinkState::UsedUp
        } else {
            LinkState::Open
        }
    }

    /// Applies a change to the link. Absent fields keep their values.
    ///
    /// # Errors
    /// `invalid_request` if a new expiry is not in the future.
    pub(crate) fn apply(&mut self, change: ChangePaymentLink, now: Time) -> Result<(), Refusal> {
        let ChangePaymentLink {
            name,
            amount,
            description,
            active,
            expires_at,
            paid_uses_max,
            redirect_url,
        } = change;
        if let Some(end) = expires_at.filter(|end| *end != self.expires_at) {
            self.expires_at = check_expiry(end, now.max(self.created_at))?;
        }
        self.name = name.unwrap_or_else(|| std::mem::take(&mut self.name));
        self.amount = amount.unwrap_or(self.amount);
        self.description = description.unwrap_or_else(|| self.description.take());
        self.active = active.unwrap_or(self.active);
        self.paid_uses_max = paid_uses_max.unwrap_or(self.paid_uses_max);
        self.redirect_url = redirect_url.unwrap_or_else(|| self.redirect_url.take());
        Ok(())
    }
}

fn check_expiry(end: Option<Time>, now: Time) -> Result<Option<Time>, Refusal> {
    if end.is_some_and(|end| end <= now) {
        let problem = format!(
            "must be in the future; it is {now}. To stop the link now, set active to false"
        );
        return Err(Refusal::field("expiresAt", problem));
    }
    Ok(end)
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

fn price_too_large_refusal() -> Refusal {
    let message = "amount is larger than any account allows";
    Refusal::for_param(RefusalCode::AmountTooLarge, "amount", message)
}
