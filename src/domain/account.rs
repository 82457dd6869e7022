//! The merchant's account: its status, limits, settings and webhook endpoints.
//!
//! Invariant: only an active account can create invoices.

pub mod change;
mod checkout_rules;
pub mod sandbox;

use super::asset::{Asset, Mode};
use super::event::{EventType, WebhookFormat};
use super::language::AUTO;
use super::money::{Bps, Cents};
use super::refusal::{Refusal, RefusalCode};
use super::text_enum::text_enum;
use super::time::Time;
use super::url::SiteUrl;

text_enum! {
    /// Status of an account.
    ///
    /// ```text
    /// pending → active ⇄ suspended
    ///    └────→ rejected
    /// ```
    pub enum AccountStatus {
        /// Waits for the operator's approval.
        Pending = "pending",
        /// Accepted by the operator; may create invoices.
        Active = "active",
        /// Suspended by the operator; may no longer create invoices.
        Suspended = "suspended",
        /// Refused by the operator.
        Rejected = "rejected",
    }
}

impl AccountStatus {
    /// Checks that this account may create invoices.
    ///
    /// # Errors
    /// `account_suspended`, or `account_not_approved`.
    pub fn check_can_create_invoices(self) -> Result<(), Refusal> {
        match self {
            AccountStatus::Active => Ok(()),
            AccountStatus::Suspended => {
                Err(Refusal::new(RefusalCode::AccountSuspended, "the account is suspended"))
            }
            AccountStatus::Pending | AccountStatus::Rejected => Err(Refusal::new(
                RefusalCode::AccountNotApproved,
                format!("the account is {self}, not approved"),
            )),
        }
    }

    /// Checks that this account may request payouts.
    ///
    /// # Errors
    /// `account_not_active`.
    pub fn check_can_request_payouts(self) -> Result<(), Refusal> {
        match self {
            AccountStatus::Active => Ok(()),
            AccountStatus::Pending | AccountStatus::Suspended | AccountStatus::Rejected => {
                Err(Refusal::new(
                    RefusalCode::AccountNotActive,
                    format!("the account is {self}; payouts need an active one"),
                ))
            }
        }
    }

    /// Checks that an operator may change this status to `next`.
    ///
    /// # Errors
    /// `invalid_transition`.
    pub fn check_can_become(self, next: AccountStatus) -> Result<(), Refusal> {
        let is_drawn = match self {
            AccountStatus::Pending => {
                matches!(next, AccountStatus::Active | AccountStatus::Rejected)
            }
            AccountStatus::Active => next == AccountStatus::Suspended,
            AccountStatus::Suspended => next == AccountStatus::Active,
            AccountStatus::Rejected => false,
        };
        if is_drawn {
            return Ok(());
        }
        Err(Refusal::new(
            RefusalCode::InvalidTransition,
            format!("an account that is {self} cannot become {next}"),
        ))
    }

    /// Returns the event to send when the status changes from `before` to `self`; `None` if the change has no event.
    pub fn event_of_change_from(self, before: AccountStatus) -> Option<EventType> {
        match self {
            AccountStatus::Active if before != self => Some(EventType::AccountApproved),
            AccountStatus::Suspended if before != self => Some(EventType::AccountSuspended),
            AccountStatus::Active
            | AccountStatus::Suspended
            | AccountStatus::Pending
            | AccountStatus::Rejected => None,
        }
    }
}

/// A merchant's account with its limits and settings.
#[derive(Clone, PartialEq)]
pub struct Account {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Name of the merchant.
    pub name: String,
    /// Status of the account.
    pub status: AccountStatus,
    /// Fee that the service takes from each payment, in basis points.
    pub fee: Bps,
    /// `true` if settlement is enabled. The service stores and returns this setting, and does not use it.
    pub settlement_enabled: bool,
    /// `true` if the account may have customers with static addresses.
    pub customers_enabled: bool,
    /// Coin in which payouts are sent.
    pub payout_asset: &'static Asset,
    /// Largest price of an invoice.
    pub invoice_max: Cents,
    /// Smallest amount of a payout.
    pub payout_min: Cents,
    /// Largest sum of payouts in 24 hours, in each currency.
    pub payout_daily_max: Cents,
    /// Largest sum that the signer may send in 24 hours, in each currency; `None` for no limit.
    pub signer_max: Option<Cents>,
    /// Largest underpayment with which an invoice still counts as paid, in basis points of the price.
    pub under: Bps,
    /// Largest overpayment with which an invoice does not count as overpaid, in basis points of the price.
    pub over: Bps,
    /// Reduction of the account's exchange rates, in basis points. At a lower rate, a customer pays more of a coin.
    pub spread: Bps,
    /// Default time that a customer has to pay an invoice, in seconds.
    pub ttl_seconds: i64,
    /// Default page to which a customer returns after payment.
    pub success_url: Option<String>,
    /// Default page to which a customer returns without payment.
    pub cancel_url: Option<String>,
    /// Secret that signs deliveries to the `webhookUrl` of an invoice.
    pub legacy_secret: String,
    /// Time of creation.
    pub created_at: Time,
    /// Appearance of the account's checkout.
    pub branding: Branding,
    /// Language of the checkout as an HTML `lang` value, or `auto` for the language of the customer's browser.
    pub checkout_lang: String,
    /// Largest number of servers that the account may have at the same time; 0 if the account may not order servers.
    pub server_quota: i64,
    /// Origins whose pages may use the account's public keys, like `https://shop.example`; empty for all.
    pub allowed_origins: Vec<String>,
    /// Coins that the checkout lists first, in this order.
    pub favorite_coins: Vec<&'static Asset>,
    /// Lines below the merchant's name on receipts, for example an address.
    pub address_lines: Vec<String>,
}

/// Appearance of an account's checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branding {
    /// Color as `#` and six lower-case hex digits.
    pub color: Option<String>,
    /// Absolute URL of the logo.
    pub logo_url: Option<String>,
}

impl Account {
    /// Returns `true` if a page of this origin may use the account's public keys. `None` is always allowed, because
    /// programs outside a browser send no origin.
    pub fn allows_origin(&self, origin: Option<&str>) -> bool {
        let is_same = |allowed: &str, origin: &SiteUrl<'_>| {
            SiteUrl::parse(allowed).is_ok_and(|allowed| allowed.is_same_origin(origin))
        };
        let is_listed = |origin: &str| {
            let mut allowed = self.allowed_origins.iter();
            SiteUrl::parse(origin).is_ok_and(|origin| allowed.any(|one| is_same(one, &origin)))
        };
        self.allowed_origins.is_empty() || origin.is_none_or(is_listed)
    }

    /// Returns `amount` if it is a price that the account allows. An `amount` of `None` is a price that overflows.
    ///
    /// # Errors
    ///
    /// `amount_too_large` if the price is above the account's maximum or overflows.
    pub fn check_price(&self, amount: Option<Cents>) -> Result<Cents, Refusal> {
        let max = self.invoice_max;
        amount.filter(|amount| *amount <= max).ok_or_else(|| {
            let message = format!("amount must be at most {max} for this account");
            Refusal::for_param(RefusalCode::AmountTooLarge, "amount", message)
        })
    }

    /// Returns a new account with the default settings.
    pub fn new(id: String, name: String, legacy_secret: String, now: Time) -> Account {
        Account {
            seq: 0,
            id,
            name,
            status: AccountStatus::Pending,
            fee: Bps(100),
            settlement_enabled: false,
            customers_enabled: false,
            payout_asset: default_payout_asset(),
            invoice_max: Cents(5_000_000),
            payout_min: Cents(2_000),
            payout_daily_max: Cents(1_000_000),
            signer_max: Some(Cents(100_000)),
            under: Bps(50),
            over: Bps(50),
            spread: Bps(0),
            ttl_seconds: 1_200,
            success_url: None,
            cancel_url: None,
            legacy_secret,
            created_at: now,
            branding: Branding::default(),
            checkout_lang: AUTO.to_owned(),
            server_quota: 0,
            allowed_origins: Vec::new(),
            favorite_coins: Vec::new(),
            address_lines: Vec::new(),
        }
    }
}

/// Returns SOL, the payout coin of new accounts.
pub fn default_payout_asset() -> &'static Asset {
    let [first, ..] = &super::asset::ASSETS;
    Asset::find("SOL").unwrap_or(first)
}

/// A webhook endpoint of an account.
#[derive(Clone)]
pub struct WebhookEndpoint {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Mode whose events the endpoint receives; `None` for both modes.
    pub mode: Option<Mode>,
    /// URL of the receiver.
    pub url: String,
    /// Secret that signs deliveries to the endpoint.
    pub secret: String,
    /// Format of the delivered bodies.
    pub format: WebhookFormat,
    /// Event types that the endpoint receives, by their names in the API or in the endpoint's format; `None` for all.
    pub types: Option<Vec<EventType>>,
    /// `true` if the endpoint receives events.
    pub enabled: bool,
}

impl WebhookEndpoint {
    /// Returns `true` if the endpoint receives events of this mode and type.
    pub fn receives(&self, mode: Mode, kind: EventType) -> bool {
        let Some(told) = kind.in_format(self.format) else {
            return false;
        };
        let is_listed = |types: &Vec<EventType>| types.contains(&kind) || types.contains(&told);
        self.enabled
            && self.mode.is_none_or(|wanted| wanted == mode)
            && self.types.as_ref().is_none_or(is_listed)
    }
}

#[cfg(test)]
mod tests {
    use super::AccountStatus::{Active, Pending, Rejected, Suspended};
    use super::{AccountStatus, RefusalCode};

    #[test]
    fn status_changes_only_along_documented_steps() {
        let drawn =
            [(Pending, Active), (Pending, Rejected), (Active, Suspended), (Suspended, Active)];
        for from in AccountStatus::ALL {
            for to in AccountStatus::ALL {
                let moved = from.check_can_become(*to).map_err(|refusal| refusal.code);
                let expected = if drawn.contains(&(*from, *to)) {
                    Ok(())
                } else {
                    Err(RefusalCode::InvalidTransition)
                };
                assert_eq!(moved, expected, "{from} to {to}");
            }
        }
    }
}
