//! The merchant's account: what it may do and within which limits.
//!
//! What lives here: the account, its states, its limits and its webhook endpoints. What does not: its balance
//! (`ledger`). What always holds: only an active account makes invoices.

pub mod change;
pub mod sandbox;

use super::asset::{Asset, Mode};
use super::event::{EventType, Format};
use super::language::AUTO;
use super::money::{Bps, Cents};
use super::refusal::{Code, Refusal};
use super::text_enum::text_enum;
use super::time::Time;
use super::url::Site;

text_enum! {
    /// Where an account stands.
    ///
    /// ```text
    /// pending → active ⇄ suspended
    ///    └────→ rejected
    /// ```
    pub enum AccountStatus {
        /// Waiting for the operator.
        Pending = "pending",
        /// In use.
        Active = "active",
        /// Stopped by the operator.
        Suspended = "suspended",
        /// Not taken.
        Rejected = "rejected",
    }
}

impl AccountStatus {
    /// May this account make invoices?
    ///
    /// # Errors
    /// `account_suspended`, or `account_not_approved`.
    pub fn may_create_invoices(self) -> Result<(), Refusal> {
        match self {
            AccountStatus::Active => Ok(()),
            AccountStatus::Suspended => Err(Refusal::new(
                Code::AccountSuspended,
                "the account is suspended",
            )),
            AccountStatus::Pending | AccountStatus::Rejected => Err(Refusal::new(
                Code::AccountNotApproved,
                format!("the account is {self}, not approved"),
            )),
        }
    }

    /// May this account ask for payouts?
    ///
    /// # Errors
    /// `account_not_active`.
    pub fn may_be_paid_out(self) -> Result<(), Refusal> {
        match self {
            AccountStatus::Active => Ok(()),
            AccountStatus::Pending | AccountStatus::Suspended | AccountStatus::Rejected => {
                Err(Refusal::new(
                    Code::AccountNotActive,
                    format!("the account is {self}; payouts need an active one"),
                ))
            }
        }
    }

    /// May an operator move an account from here to there?
    ///
    /// # Errors
    /// `invalid_transition`.
    pub fn may_become(self, next: AccountStatus) -> Result<(), Refusal> {
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
            Code::InvalidTransition,
            format!("an account that is {self} cannot become {next}"),
        ))
    }

    /// The event of becoming this, coming from `before`.
    pub fn event_after(self, before: AccountStatus) -> Option<EventType> {
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

/// An account.
#[derive(Clone, PartialEq)]
pub struct Account {
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// The shop's name.
    pub name: String,
    /// Where it stands.
    pub status: AccountStatus,
    /// The service's fee.
    pub fee: Bps,
    /// Stored and shown only.
    pub settlement_enabled: bool,
    /// May it have customers with static addresses?
    pub customers_enabled: bool,
    /// The coin payouts are sent in.
    pub payout_asset: &'static Asset,
    /// The largest invoice.
    pub invoice_max: Cents,
    /// The smallest payout.
    pub payout_min: Cents,
    /// The most paid out in 24 hours, in each currency.
    pub payout_daily_max: Cents,
    /// Most that the signer is given in 24 hours, in each currency; `None` for no limit.
    pub signer_max: Option<Cents>,
    /// Tolerance below a price.
    pub under: Bps,
    /// Tolerance above a price.
    pub over: Bps,
    /// By how much its rates are lower than what was told: a customer pays more of a coin.
    pub spread: Bps,
    /// Default time to pay.
    pub ttl_seconds: i64,
    /// Where customers go after paying, by default.
    pub success_url: Option<String>,
    /// Where customers go who give up, by default.
    pub cancel_url: Option<String>,
    /// Signs deliveries to an invoice's own webhookUrl.
    pub legacy_secret: String,
    /// When it was made.
    pub created_at: Time,
    /// How its checkout looks.
    pub branding: Branding,
    /// The language of its checkout, as in `lang` of HTML, or `auto`: that of the customer's browser.
    pub checkout_lang: String,
    /// How many servers it may have at once; 0: it may not order any.
    pub server_quota: i64,
    /// Origins of the pages that may use its public keys, like `https://shop.example`; none: all.
    pub allowed_origins: Vec<String>,
}

/// How an account's checkout looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branding {
    /// `#` and six hex digits, lower case.
    pub color: Option<String>,
    /// An absolute url of a picture.
    pub logo_url: Option<String>,
}

impl Account {
    /// May a page of this origin use the account's public keys? Programs send no origin, and may.
    pub fn admits(&self, origin: Option<&str>) -> bool {
        let is_same = |allowed: &str, origin: &Site<'_>| {
            Site::parse(allowed).is_ok_and(|allowed| allowed.has_origin_of(origin))
        };
        let is_listed = |origin: &str| {
            let mut allowed = self.allowed_origins.iter();
            Site::parse(origin).is_ok_and(|origin| allowed.any(|one| is_same(one, &origin)))
        };
        self.allowed_origins.is_empty() || origin.is_none_or(is_listed)
    }

    /// The price of an invoice, if the account allows it; nothing is a price larger than can be counted.
    ///
    /// # Errors
    /// `amount_too_large`.
    pub fn check_price(&self, amount: Option<Cents>) -> Result<Cents, Refusal> {
        let max = self.invoice_max;
        amount.filter(|amount| *amount <= max).ok_or_else(|| {
            let message = format!("amount must be at most {max} for this account");
            Refusal::of(Code::AmountTooLarge, "amount", message)
        })
    }

    /// A new account with the defaults of the interface.
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
        }
    }
}

/// SOL.
pub fn default_payout_asset() -> &'static Asset {
    let [first, ..] = &super::asset::ASSETS;
    Asset::find("SOL").unwrap_or(first)
}

/// A receiver of an account's events.
#[derive(Clone)]
pub struct Endpoint {
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// Which mode's events it gets; nothing: both.
    pub mode: Option<Mode>,
    /// Where to.
    pub url: String,
    /// Signs its deliveries.
    pub secret: String,
    /// Which body it gets.
    pub format: Format,
    /// Which events it gets, by their own type or by the name they are told under; nothing: all.
    pub types: Option<Vec<EventType>>,
    /// Is it in use?
    pub enabled: bool,
}

impl Endpoint {
    /// Does it get this event?
    pub fn wants(&self, mode: Mode, kind: EventType) -> bool {
        let Some(told) = kind.told_as(self.format) else {
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
    use super::{AccountStatus, Code};

    #[test]
    fn an_account_moves_as_drawn_and_no_other_way() {
        let drawn = [
            (Pending, Active),
            (Pending, Rejected),
            (Active, Suspended),
            (Suspended, Active),
        ];
        for from in AccountStatus::ALL {
            for to in AccountStatus::ALL {
                let moved = from.may_become(*to).map_err(|refusal| refusal.code);
                let expected = if drawn.contains(&(*from, *to)) {
                    Ok(())
                } else {
                    Err(Code::InvalidTransition)
                };
                assert_eq!(moved, expected, "{from} to {to}");
            }
        }
    }
}
