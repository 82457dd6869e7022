//! The checkout: what a shop's page may ask with a public key, and what a customer may do with an invoice's token.
//!
//! What always holds: a token opens its own invoice and nothing else, and all that it allows is picking a coin, and paying a test
//! invoice without money.

use super::invoices::owned;
use super::payments::still_due;
use super::{Error, Json, Scope, Service};
use crate::domain::account::Account;
use crate::domain::asset::Asset;
use crate::domain::confirmations::OnChain;
use crate::domain::invoice::Invoice;
use crate::domain::invoice::draft::PaymentCase;
use crate::domain::money::coin::Units;
use crate::domain::money::{Total, reaches};
use crate::domain::payment::Payment;
use crate::domain::quote;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use crate::domain::{id, render};
use crate::store::{Reader, accounts, invoices, payments, quotes};
use std::sync::Arc;

/// What a customer sees of an invoice.
pub struct Checkout {
    /// Whose invoice it is.
    pub account: Account,
    /// The invoice.
    pub invoice: Invoice,
    /// The coins that take this price.
    pub coins: Vec<Due>,
    /// What is still to be sent in the invoice's coin: where less has come than was due, or is under way, and there is time.
    pub rest: Option<Units>,
    /// The newest payments that are seen on a real chain and not confirmed, oldest first.
    pub unconfirmed: Vec<(Payment, OnChain)>,
    /// The network that the invoice's coin is really sent on, by the name that its nodes use; none where nobody follows it.
    pub network: Option<String>,
    /// Are payments simulated: would nothing that is sent arrive?
    pub is_simulated: bool,
    /// Where this is seen, with what opens it.
    pub url: String,
    /// Are coins paid here that are worth nothing?
    pub is_for_tests: bool,
    /// The version of its state: what a page that shows this listens from.
    pub version: String,
}

/// What a checkout shows of its invoice, as far as it changes.
pub struct CheckoutState {
    /// The invoice's id.
    pub invoice: String,
    /// As JSON.
    pub json: Json,
    /// The same as long as the JSON is; 16 hex digits.
    pub version: String,
}

/// A coin that takes an invoice's price.
pub struct Due {
    /// Which coin.
    pub asset: &'static Asset,
    /// What would be due in it.
    pub amount: Units,
    /// Is it paid on a test network, while live invoices are for real?
    pub is_on_test_network: bool,
}

/// The most payments that a customer sees of an invoice: a sender can make as many as it likes.
const UNCONFIRMED_MAX: u32 = 5;

impl Service {
    /// May a page of this origin use the caller's public key? Programs send no origin.
    ///
    /// # Errors
    /// `forbidden` where the account lists origins and this is none of them.
    pub fn admit_origin(&self, scope: &Scope, origin: &str) -> Result<(), Error> {
        let account = self.read(|db| Ok(accounts::by_seq(db, scope.account())?))?;
        if account.allows_origin(Some(origin)) {
            return Ok(());
        }
        let message = format!("pages of {origin} may not use this account's public keys");
        Err(Refusal::new(Code::Forbidden, message).into())
    }

    /// What a shop's page may know of the account.
    pub fn public_config(&self, now: Time, scope: &Scope) -> Result<Json, Error> {
        let (account, coins) = self.read(|db| {
            let account = accounts::by_seq(db, scope.account())?;
            Ok((account, self.listed(db, now, scope.mode())?))
        })?;
        Ok(render::public_config(
            &account,
            scope.mode(),
            coins.into_iter(),
            &self.links,
        )?)
    }

    /// What opens the checkout of one of the account's invoices.
    ///
    /// # Errors
    /// `not_found`.
    pub fn checkout_session(&self, scope: &Scope, invoice: &str) -> Result<Json, Error> {
        let invoice = self.read(|db| owned(db, scope, invoice))?;
        Ok(render::checkout_session(&invoice, &self.links)?)
    }

    /// What the customer sees of an invoice.
    ///
    /// # Errors
    /// `not_found`, the same for an invoice that is not there and for a token that is not its own.
    pub fn checkout(&self, now: Time, id: &str, token: &str) -> Result<Checkout, Error> {
        let id = self.opened(id, token)?;
        self.read_at_one_moment(|db| {
            let invoice = invoices::by_id(db, &id)?.ok_or_else(unknown)?;
            let account = accounts::by_seq(db, invoice.account)?;
            let (mode, currency) = (invoice.mode, invoice.currency);
            let offered = self.offered(db, now, mode, currency, account.spread)?;
            let rest = rest(db, &invoice, now)?;
            let mut coins = Vec::new();
            for (asset, quoted) in offered {
                if let Ok(amount) = quote::amount_due(asset, quoted.rate, invoice.amount) {
                    let network = self.test_network(db, mode, asset.chain)?;
                    let is_on_test_network = network.is_some();
                    coins.push(Due {
                        asset,
                        amount,
                        is_on_test_network,
                    });
                }
            }
            let chain = invoice.coin.as_ref().map(|coin| coin.asset.chain);
            let followed = chain.filter(|_| !self.is_simulated(mode));
            let network = followed.map(|chain| self.followed_on(db, chain));
            Ok(Checkout {
                account,
                coins,
                rest,
                network: network.transpose()?.flatten(),
                is_simulated: self.is_simulated(mode),
                url: self.links.checkout(&id),
                unconfirmed: self.unconfirmed(db, &invoice)?,
                is_for_tests: self.is_for_tests(db, mode, chain)?,
                version: state_of(&invoice)?.version,
                invoice,
            })
        })
    }

    /// What a checkout shows of its invoice, as far as it changes.
    ///
    /// # Errors
    /// `not_found`, as [`Service::checkout`] has it.
    pub fn checkout_state(&self, id: &str, token: &str) -> Result<CheckoutState, Error> {
        let id = self.opened(id, token)?;
        let invoice = self.read(|db| invoices::by_id(db, &id)?.ok_or_else(unknown))?;
        state_of(&invoice)
    }

    /// Picks the coin, as the customer does.
    ///
    /// # Errors
    /// `not_found`, `payment_in_flight`, `invoice_closed`, `coin_unavailable`.
    pub async fn select_at_checkout(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        token: &str,
        asset: String,
    ) -> Result<(), Error> {
        let id = self.opened(id, token)?;
        let invoice = self.read(|db| invoices::by_id(db, &id)?.ok_or_else(unknown))?;
        let customer = Scope::of(invoice.account, invoice.mode);
        self.select(now, &customer, &id, asset).await.map(drop)
    }

    /// Pays a test invoice, as its page lets whoever has it open.
    ///
    /// # Errors
    /// `not_found`, `forbidden` for an invoice that is no test, `invalid_request` where it was paid too often.
    pub async fn simulate_at_checkout(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        token: &str,
        case: PaymentCase,
    ) -> Result<(), Error> {
        let id = self.opened(id, token)?;
        let invoice = self.read(|db| invoices::by_id(db, &id)?.ok_or_else(unknown))?;
        if invoice.mode.is_live() {
            let message = "only a test invoice is paid without money";
            return Err(Refusal::new(Code::Forbidden, message).into());
        }
        let customer = Scope::of(invoice.account, invoice.mode);
        self.simulate(now, &customer, &id, case, None)
            .await
            .map(drop)
    }

    /// The newest payments of an invoice that are seen on a real chain and not confirmed, oldest first.
    fn unconfirmed(
        &self,
        db: &Reader<'_>,
        invoice: &Invoice,
    ) -> Result<Vec<(Payment, OnChain)>, Error> {
        if self.is_simulated(invoice.mode) {
            return Ok(Vec::new());
        }
        let mut seen = payments::newest_seen(db, invoice.seq, UNCONFIRMED_MAX)?;
        seen.reverse();
        let on_chain = self.depths().of_each(db, &seen)?;
        Ok(seen.into_iter().zip(on_chain).collect())
    }

    /// Does this token open this invoice's checkout?
    pub fn opens_checkout(&self, id: &str, token: &str) -> bool {
        self.opened(id, token).is_ok()
    }

    /// Whose invoice this is; nothing where there is none, or the file cannot be read just now.
    pub fn account_of_invoice(&self, id: &str) -> Option<Account> {
        let id = id::parse(id)?;
        let found = self.read(|db| match invoices::by_id(db, &id)? {
            Some(invoice) => Ok(Some(accounts::by_seq(db, invoice.account)?)),
            None => Ok(None),
        });
        found.ok().flatten()
    }

    /// The id of the invoice that this token opens.
    fn opened(&self, id: &str, token: &str) -> Result<String, Error> {
        id::parse(id)
            .filter(|id| self.links.is_token(id, token))
            .ok_or_else(unknown)
    }
}

/// What is told of an invoice whenever it changes.
pub(super) fn state_of(invoice: &Invoice) -> Result<CheckoutState, Error> {
    let json = render::checkout_state(invoice)?;
    Ok(CheckoutState {
        invoice: invoice.id.clone(),
        version: render::version(&json),
        json,
    })
}

/// What is still to be sent to an invoice on which too little was seen, at the rate and in the places of its quote; nothing
/// where the address of that is not the invoice's.
fn rest(db: &Reader<'_>, invoice: &Invoice, now: Time) -> Result<Option<Units>, Error> {
    let terms = invoice.terms();
    let has_some = matches!(
        invoice.status,
        InvoiceStatus::Detected | InvoiceStatus::Underpaid
    );
    let is_open = has_some && now < terms.deadline();
    let Some(coin) = invoice.coin.as_ref().filter(|_| is_open) else {
        return Ok(None);
    };
    let quotes = quotes::of_invoice(db, invoice.seq)?;
    if quotes
        .iter()
        .any(|quote| quote.given && quote.address == coin.address)
    {
        return Ok(None);
    }
    let counting = payments::counting(db, invoice.seq)?;
    let seen = counting.iter().copied().sum::<Total>();
    if reaches(seen, terms.due, terms.under) {
        return Ok(None);
    }
    let due = still_due(invoice, counting)?;
    Ok(Some(coin.rate.units_for(due, coin.asset.decimals)?))
}

/// 404 for an invoice that is not there, or not for who asks.
fn unknown() -> Error {
    Refusal::not_found("invoice").into()
}
