//! The checkout: requests of a shop's page with a public key, and of a customer with an invoice's token.
//!
//! Invariant: a token opens only its own invoice. With a token, a customer can only select a coin and simulate
//! payments of a test invoice.

use super::lookups::owned_invoice;
use super::simulated_payments::amount_still_due;
use super::simulated_payments::pay_invoice;
use super::{Error, Json, Scope, Service};
use crate::domain::confirmations::OnChain;
use crate::domain::money::is_paid_in_full;
use crate::domain::{
    Account, Asset, Invoice, InvoiceStatus, Payment, Refusal, RefusalCode, SimulatedAmount, Time,
    Total, Units, id, quote,
};
use crate::render;
use crate::store::{Reader, accounts, invoices, payments, quotes};
use serde_json::value::to_raw_value;
use std::sync::Arc;

/// Data of an invoice for its checkout page.
pub struct Checkout {
    /// Account of the invoice.
    pub account: Account,
    /// Invoice that the page shows.
    pub invoice: Invoice,
    /// Coins in which the invoice can be paid.
    pub coins: Vec<PayableCoin>,
    /// Remaining amount to send, in the invoice's coin. `Some` while the payments are too low and the deadline has
    /// not passed.
    pub rest: Option<Units>,
    /// The newest unconfirmed payments, oldest first.
    pub unconfirmed: Vec<(Payment, OnChain)>,
    /// The newest confirmed payments of a paid invoice, oldest first. Empty for an unpaid invoice.
    pub confirmed: Vec<(Payment, OnChain)>,
    /// Name of the network of the invoice's coin, as the chain's nodes report it. `None` if the chain is not
    /// followed.
    pub network: Option<String>,
    /// `true` if payments are simulated: the server does not see coins that are sent on a real network.
    pub is_simulated: bool,
    /// URL of the checkout page, with its token.
    pub url: String,
    /// `true` if payments are in test coins without value.
    pub is_for_tests: bool,
    /// Version of the state. The page listens for changes after this version.
    pub version: String,
}

/// The part of a checkout that changes with its invoice.
pub struct CheckoutState {
    /// Id of the invoice.
    pub invoice: String,
    /// The state as JSON.
    pub json: Json,
    /// Hash of the JSON and, in a sandbox, of the payments' confirmations: 16 hex digits.
    pub version: String,
}

/// A coin in which the invoice can be paid.
pub struct PayableCoin {
    /// Coin to pay with.
    pub asset: &'static Asset,
    /// Amount due in this coin.
    pub amount: Units,
    /// `true` if the coin is on a test network although the invoice is live.
    pub is_on_test_network: bool,
}

/// Maximum number of unconfirmed payments on the page. A sender can make any number of payments.
const UNCONFIRMED_MAX: u32 = 5;

/// Maximum number of confirmed payments on a receipt.
const CONFIRMED_MAX: u32 = 20;

impl Service {
    /// Checks that a page of this origin may use the caller's public key.
    ///
    /// # Errors
    ///
    /// `forbidden` if the account has a list of allowed origins that does not contain this origin.
    pub fn check_origin(&self, scope: &Scope, origin: &str) -> Result<(), Error> {
        let account = self.read(|db| Ok(accounts::by_seq(db, scope.account())?))?;
        if account.allows_origin(Some(origin)) {
            return Ok(());
        }
        let message = format!("pages of {origin} may not use this account's public keys");
        Err(Refusal::new(RefusalCode::Forbidden, message).into())
    }

    /// Returns the account's configuration that a shop's page may read.
    pub fn public_config(&self, now: Time, scope: &Scope) -> Result<Json, Error> {
        let (account, coins) = self.read(|db| {
            let account = accounts::by_seq(db, scope.account())?;
            Ok((account, self.listed_coins(db, now, scope.mode())?))
        })?;
        Ok(render::public_config(&account, scope.mode(), coins.into_iter(), &self.links)?)
    }

    /// Returns the checkout URL and token of an invoice of the account.
    ///
    /// # Errors
    ///
    /// `not_found`.
    pub fn checkout_session(&self, scope: &Scope, invoice: &str) -> Result<Json, Error> {
        let invoice = self.read(|db| owned_invoice(db, scope, invoice))?;
        Ok(render::checkout_session(&invoice, &self.links)?)
    }

    /// Returns the data of the checkout page.
    ///
    /// # Errors
    ///
    /// `not_found` both for an unknown invoice and for a wrong token.
    pub fn checkout(&self, now: Time, id: &str, token: &str) -> Result<Checkout, Error> {
        let id = self.check_token(id, token)?;
        self.read_snapshot(|db| {
            let invoice = invoices::by_id(db, &id)?.ok_or_else(invoice_not_found)?;
            let account = accounts::by_seq(db, invoice.account)?;
            let (mode, currency) = (invoice.mode, invoice.currency);
            let offered = self.offered_coins(db, now, mode, currency, account.spread)?;
            let rest = remaining_amount(db, &invoice, now)?;
            let mut coins = Vec::new();
            for (asset, quoted) in offered {
                if let Ok(amount) = quote::amount_due(asset, quoted.rate, invoice.amount) {
                    let network = self.followed_test_network(db, mode, asset.chain)?;
                    let is_on_test_network = network.is_some();
                    coins.push(PayableCoin { asset, amount, is_on_test_network });
                }
            }
            let chain = invoice.coin.as_ref().map(|coin| coin.asset.chain);
            let followed = chain.filter(|_| !self.is_simulated(mode));
            let network = followed.map(|chain| self.followed_network(db, chain));
            Ok(Checkout {
                account,
                coins,
                rest,
                network: network.transpose()?.flatten(),
                is_simulated: self.is_simulated(mode),
                url: self.links.checkout_url(&id),
                unconfirmed: self.unconfirmed_payments(db, &invoice)?,
                confirmed: self.confirmed_payments(db, &invoice)?,
                is_for_tests: self.has_test_coins(db, mode, chain)?,
                version: self.render_checkout_state(db, &invoice)?.version,
                invoice,
            })
        })
    }

    /// Returns the part of the checkout that changes with the invoice.
    ///
    /// # Errors
    ///
    /// `not_found` both for an unknown invoice and for a wrong token.
    pub fn checkout_state(&self, id: &str, token: &str) -> Result<CheckoutState, Error> {
        let id = self.check_token(id, token)?;
        self.read_snapshot(|db| {
            let invoice = invoices::by_id(db, &id)?.ok_or_else(invoice_not_found)?;
            self.render_checkout_state(db, &invoice)
        })
    }

    /// Selects the coin for the customer.
    ///
    /// # Errors
    ///
    /// `not_found`, `payment_in_flight`, `invoice_closed`, `coin_unavailable`.
    pub async fn select_checkout_coin(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        token: &str,
        asset: String,
    ) -> Result<(), Error> {
        let id = self.check_token(id, token)?;
        let invoice = self.read(|db| invoices::by_id(db, &id)?.ok_or_else(invoice_not_found))?;
        let customer = Scope::new(invoice.account, invoice.mode);
        self.select_coin(now, &customer, &id, asset).await.map(drop)
    }

    /// Simulates a payment of a test invoice from its checkout page.
    ///
    /// # Errors
    ///
    /// `not_found`. `forbidden` for a live invoice. `invalid_request` after too many simulated payments.
    pub async fn simulate_checkout_payment(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        token: &str,
        case: SimulatedAmount,
    ) -> Result<(), Error> {
        let id = self.check_token(id, token)?;
        let invoice = self.read(|db| invoices::by_id(db, &id)?.ok_or_else(invoice_not_found))?;
        if invoice.mode.is_live() {
            let message = "only a test invoice is paid without money";
            return Err(Refusal::new(RefusalCode::Forbidden, message).into());
        }
        let customer = Scope::new(invoice.account, invoice.mode);
        self.write_repeatable(now, move |step| {
            pay_invoice(step, &customer, &id, case, None).map(drop)
        })
        .await
    }

    /// Returns the newest unconfirmed payments of an invoice, oldest first.
    fn unconfirmed_payments(
        &self,
        db: &Reader<'_>,
        invoice: &Invoice,
    ) -> Result<Vec<(Payment, OnChain)>, Error> {
        self.with_states(db, payments::newest_unconfirmed(db, invoice.seq, UNCONFIRMED_MAX)?)
    }

    /// Returns the newest confirmed payments of a paid invoice, oldest first.
    fn confirmed_payments(
        &self,
        db: &Reader<'_>,
        invoice: &Invoice,
    ) -> Result<Vec<(Payment, OnChain)>, Error> {
        if !invoice.status.is_paid() {
            return Ok(Vec::new());
        }
        self.with_states(db, payments::newest_confirmed(db, invoice.seq, CONFIRMED_MAX)?)
    }

    /// Returns payments in the reverse order, each with its state on its chain.
    fn with_states(
        &self,
        db: &Reader<'_>,
        mut payments: Vec<Payment>,
    ) -> Result<Vec<(Payment, OnChain)>, Error> {
        payments.reverse();
        let on_chain = self.on_chain_reader().read_states(db, &payments)?;
        Ok(payments.into_iter().zip(on_chain).collect())
    }

    /// Returns the checkout state of an invoice. Listeners receive this state after each change.
    ///
    /// In a sandbox each confirmation of a payment is such a change, because it is set by a request. On a real chain a
    /// new block writes nothing, and pages ask for the confirmations.
    fn render_checkout_state(
        &self,
        db: &Reader<'_>,
        invoice: &Invoice,
    ) -> Result<CheckoutState, Error> {
        let json = render::checkout_state(invoice)?;
        let mut version = render::content_version(&json);
        if self.is_simulated(invoice.mode) {
            for (_, on_chain) in self.unconfirmed_payments(db, invoice)? {
                if let Some(count) = on_chain.confirmations.filter(|count| *count > 0) {
                    let seen = format!("{version} {count}");
                    version = render::content_version(&to_raw_value(&seen)?);
                }
            }
        }
        Ok(CheckoutState { invoice: invoice.id.clone(), version, json })
    }

    /// Returns `true` if this token opens the checkout of this invoice.
    pub fn token_opens_checkout(&self, id: &str, token: &str) -> bool {
        self.check_token(id, token).is_ok()
    }

    /// Returns the account of an invoice. `None` if there is no such invoice or the file cannot be read.
    pub fn account_of_invoice(&self, id: &str) -> Option<Account> {
        let id = id::parse(id)?;
        let found = self.read(|db| match invoices::by_id(db, &id)? {
            Some(invoice) => Ok(Some(accounts::by_seq(db, invoice.account)?)),
            None => Ok(None),
        });
        found.ok().flatten()
    }

    /// Returns the canonical id of the invoice if the token opens the invoice's checkout.
    fn check_token(&self, id: &str, token: &str) -> Result<String, Error> {
        id::parse(id)
            .filter(|id| self.links.is_checkout_token(id, token))
            .ok_or_else(invoice_not_found)
    }
}

/// Returns the remaining amount of an invoice that is partly paid, at the rate and precision of its quote.
///
/// Returns `None` if the address of the quote does not belong to the invoice.
fn remaining_amount(db: &Reader<'_>, invoice: &Invoice, now: Time) -> Result<Option<Units>, Error> {
    let terms = invoice.terms();
    let has_some = matches!(invoice.status, InvoiceStatus::Detected | InvoiceStatus::Underpaid);
    let is_open = has_some && now < terms.deadline();
    let Some(coin) = invoice.coin.as_ref().filter(|_| is_open) else {
        return Ok(None);
    };
    let quotes = quotes::of_invoice(db, invoice.seq)?;
    if quotes.iter().any(|quote| quote.given && quote.address == coin.address) {
        return Ok(None);
    }
    let counting = payments::undropped_values(db, invoice.seq)?;
    let seen = counting.iter().copied().sum::<Total>();
    if is_paid_in_full(seen, terms.due, terms.under) {
        return Ok(None);
    }
    let due = amount_still_due(invoice, counting)?;
    Ok(Some(coin.rate.units_for(due, coin.asset.decimals)?))
}

/// Returns 404 for an invoice that does not exist or that the caller must not see.
fn invoice_not_found() -> Error {
    Refusal::not_found("invoice").into()
}
