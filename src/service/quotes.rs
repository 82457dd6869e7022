//! Quotes: offers coins, selects a coin for an invoice, and assigns the address of the invoice.
//!
//! `domain::quote` decides which quote of an invoice is current.
//!
//! Invariant: an invoice has at most one quote for each coin, and claims at most one address for each chain.

use super::followed::lagging_chains;
use super::lookups::owned_invoice;
use super::pools::{claim_address, take_address};
use super::rates::NoRate;
use super::settle::{SettleCause, settle_invoice};
use super::{Error, Json, Scope, Service, Step};
use crate::domain::asset::ASSETS;
use crate::domain::quote::{self, coin_unavailable};
use crate::domain::{
    Asset, Bps, Currency, Invoice, InvoiceChange, LaggingChains, Mode, Quote, RateQuote, Refusal,
    RefusalCode, Time, Units,
};
use crate::render;
use crate::store::addresses::{self, AddressOwner};
use crate::store::wallets::WalletIndex;
use crate::store::{Reader, Tx, accounts, chains, coins_off, invoice_steps, payments, quotes};
use std::sync::Arc;

impl Service {
    /// Selects the coin of an invoice.
    ///
    /// # Errors
    ///
    /// `not_found`, `payment_in_flight`, `invoice_closed`, `coin_unavailable`.
    pub async fn select_coin(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        id: &str,
        asset: String,
    ) -> Result<Json, Error> {
        let (scope, id) = (*scope, id.to_owned());
        if let Some(asset) = Asset::find(&asset) {
            self.fill_stock(scope.mode(), asset.chain)?;
        }
        self.write_repeatable(now, move |step| {
            let Step { service, tx, .. } = *step;
            let mut invoice = owned_invoice(tx, &scope, &id)?;
            check_coin_selectable(tx, &invoice, now)?;
            select_quote(step, &mut invoice, &asset)?;
            let invoice = settle_invoice(step, invoice, SettleCause::Other)?;
            Ok(render::invoice(&invoice, &service.links, &[])?)
        })
        .await
    }

    /// Returns the coins of the response to `GET /v1/currencies`.
    pub fn currencies(&self, now: Time, scope: &Scope) -> Result<Vec<Json>, Error> {
        let offered = self.read(|db| self.listed_coins(db, now, scope.mode()))?;
        let rendered = offered.into_iter();
        rendered.map(|asset| Ok(render::currency(asset)?)).collect()
    }

    /// Returns the coins that can be selected in this mode, independent of an invoice. Only coins with a rate in EUR,
    /// the currency that every account has, are returned.
    pub(super) fn listed_coins(
        &self,
        db: &Reader<'_>,
        now: Time,
        mode: Mode,
    ) -> Result<Vec<&'static Asset>, Error> {
        let offered = self.offered_coins(db, now, mode, Currency::Eur, Bps(0))?;
        Ok(offered.into_iter().map(|(asset, _)| asset).collect())
    }

    /// Returns the coins that can be selected in this mode for a price in this currency, with their rates less the
    /// spread.
    pub(super) fn offered_coins(
        &self,
        db: &Reader<'_>,
        now: Time,
        mode: Mode,
        currency: Currency,
        spread: Bps,
    ) -> Result<Vec<(&'static Asset, RateQuote)>, Error> {
        let mut offered = Vec::new();
        let (off, scanned) = (coins_off::all(db)?, lagging_chains(db, mode)?);
        for asset in &ASSETS {
            let is_off = off.iter().any(|(other, _)| *other == asset);
            if is_off || !self.is_chain_recently_read(&scanned, mode, asset, now) {
                continue;
            }
            if !self.can_hand_out_address(db, mode, asset)? {
                continue;
            }
            if let Ok(quoted) = self.fresh_rate(db, mode, asset, currency, now)? {
                offered.push((asset, quoted.lowered_by(spread)?));
            }
        }
        Ok(offered)
    }
}

/// Selects the quote of a coin, and creates the quote if there is none. Does not check that the invoice is open.
pub(super) fn select_quote(
    step: &Step<'_>,
    invoice: &mut Invoice,
    asset: &str,
) -> Result<Quote, Error> {
    let quotes = quotes::of_invoice(step.tx, invoice.seq)?;
    select_quote_among(step, invoice, asset, quotes)
}

/// Same as [`select_quote`], but uses quotes that the caller has already loaded.
pub(super) fn select_quote_among(
    step: &Step<'_>,
    invoice: &mut Invoice,
    asset: &str,
    quotes: Vec<Quote>,
) -> Result<Quote, Error> {
    let Step { tx, now, .. } = *step;
    let asset = find_coin(asset)?;
    let has_none = quotes.is_empty();
    let existing = quotes.into_iter().find(|quote| quote.asset == asset && !quote.given);
    let quote = match existing {
        Some(quote) => {
            if invoice.picked_quote != Some(quote.seq) {
                invoice_steps::replace_pick(tx, invoice.seq, quote.seq, now)?;
            }
            // The coin was requested, so its quote must stay valid even if an operator undoes the assignment of a
            // payment to the quote.
            quotes::set_made_for_assignment(tx, quote.seq, false)?;
            quote
        }
        None => {
            let quote = new_quote(step, invoice, asset, has_none)?;
            invoice_steps::insert(tx, invoice.seq, now, InvoiceChange::Picked(quote.seq))?;
            quote
        }
    };
    invoice.picked_quote = Some(quote.seq);
    Ok(quote)
}

/// Creates a quote with a frozen rate, an amount rounded up, and an address of the invoice.
///
/// `is_first` means that the invoice has no address yet.
fn new_quote(
    step: &Step<'_>,
    invoice: &Invoice,
    asset: &'static Asset,
    is_first: bool,
) -> Result<Quote, Error> {
    let Step { tx, now, .. } = *step;
    let (quoted, amount_expected) = current_offer(step, invoice, asset)?;
    let owner = AddressOwner::Invoice(invoice.seq);
    let own = if is_first { None } else { addresses::of_owner(tx, owner, asset.chain)? };
    let address = match own {
        Some(address) => Some(address),
        None => claim_address(step, invoice.account, invoice.mode, asset.chain, owner)?,
    };
    let mut quote = Quote {
        seq: 0,
        asset,
        quoted,
        amount_expected,
        address: address.ok_or_else(|| no_address_refusal(asset))?,
        given: false,
        created_at: now,
    };
    quote.seq = quotes::insert(tx, invoice.seq, &quote)?;
    chains::expect_payments(tx, invoice.mode, asset.chain);
    Ok(quote)
}

/// Returns the current rate and amount for paying an invoice in a coin.
fn current_offer(
    step: &Step<'_>,
    invoice: &Invoice,
    asset: &'static Asset,
) -> Result<(RateQuote, Units), Error> {
    let Step { service, tx, now } = *step;
    let refused = |problem: &str| coin_unavailable(format!("{} {problem}", asset.id));
    if !service.can_hand_out_address(tx, invoice.mode, asset)? {
        return Err(refused("is not configured for live payments").into());
    }
    let (mode, currency) = (invoice.mode, invoice.currency);
    let quoted = service.fresh_rate(tx, mode, asset, currency, now)?;
    let quoted = quoted.map_err(|NoRate| refused("has no fresh rate"))?;
    let spread = accounts::by_seq(tx, invoice.account)?.spread;
    let quoted = quoted.lowered_by(spread)?;
    if !service.is_chain_recently_read(&lagging_chains(tx, mode)?, mode, asset, now) {
        return Err(
            refused("cannot be selected now: its chain has not been read to its head").into()
        );
    }
    if coins_off::all(tx)?.iter().any(|(off, _)| *off == asset) {
        return Err(refused("is switched off").into());
    }
    let amount_expected = quote::amount_due(asset, quoted.rate, invoice.amount)?;
    Ok((quoted, amount_expected))
}

/// Takes an address for an invoice that is not stored yet, and returns the first quote of the invoice.
pub(super) fn first_quote_of_new_invoice(
    step: &Step<'_>,
    invoice: &Invoice,
    asset: &str,
) -> Result<(Quote, Option<WalletIndex>), Error> {
    let Step { tx, now, .. } = *step;
    let asset = find_coin(asset)?;
    let (quoted, amount_expected) = current_offer(step, invoice, asset)?;
    let taken = take_address(step, invoice.account, invoice.mode, asset.chain)?;
    let (address, taken) = taken.ok_or_else(|| no_address_refusal(asset))?;
    let quote = Quote {
        seq: quotes::next_seq(tx)?,
        asset,
        quoted,
        amount_expected,
        address,
        given: false,
        created_at: now,
    };
    Ok((quote, taken))
}

/// Returns the quote for a payment at this address in a coin that nobody requested.
///
/// Uses the existing quote of the coin, else creates one at the newest rate. A new quote does not require that
/// the coin is offered, and has no minimum amount.
///
/// The quote uses the address of the payment, whoever owns the address, and claims no new address. The quote is
/// selected if no other quote is selected and the invoice owns the address.
pub(super) fn quote_unrequested_coin(
    step: &Step<'_>,
    invoice: &mut Invoice,
    asset: &'static Asset,
    address: &str,
) -> Result<Quote, Error> {
    let Step { service, tx, now } = *step;
    let existing =
        quotes::of_invoice(tx, invoice.seq)?.into_iter().find(|quote| quote.asset == asset);
    let quote = match existing {
        Some(quote) => quote,
        None => {
            let quoted = service.newest_rate(tx, invoice.mode, asset, invoice.currency, now)?;
            let none = |NoRate| coin_unavailable(format!("{} has no rate", asset.id));
            let quoted = quoted.map_err(none)?;
            let quoted = quoted.lowered_by(accounts::by_seq(tx, invoice.account)?.spread)?;
            let owner = addresses::find_owner(tx, invoice.mode, asset.chain, address)?;
            let mut quote = Quote {
                seq: 0,
                asset,
                amount_expected: quoted.rate.units_for(invoice.amount, asset.decimals)?,
                quoted,
                address: address.to_owned(),
                given: owner != Some(AddressOwner::Invoice(invoice.seq)),
                created_at: now,
            };
            quote.seq = quotes::insert(tx, invoice.seq, &quote)?;
            quotes::set_made_for_assignment(tx, quote.seq, true)?;
            quote
        }
    };
    if invoice.picked_quote.is_none() && !quote.given {
        invoice_steps::replace_pick(tx, invoice.seq, quote.seq, now)?;
        invoice.picked_quote = Some(quote.seq);
    }
    Ok(quote)
}

fn find_coin(asset: &str) -> Result<&'static Asset, Refusal> {
    Asset::find(asset).ok_or_else(|| coin_unavailable(format!("{asset:?} is not an asset id")))
}

fn no_address_refusal(asset: &Asset) -> Refusal {
    coin_unavailable(format!("{} has no address available now", asset.id))
}

/// Checks that the coin of an invoice can still be selected.
fn check_coin_selectable(tx: &Tx<'_>, invoice: &Invoice, now: Time) -> Result<(), Error> {
    let (payments, now) = (
        payments::of_invoice(tx, invoice.seq)?,
        // The check uses the current time even if a chain lags behind the clock.
        invoice.status_time(&LaggingChains::default(), now),
    );
    let is_paid = payments.iter().any(|payment| payment.counts_for_invoice());
    let refusal = if is_paid && now < invoice.terms().deadline() {
        Refusal::new(
            RefusalCode::PaymentInFlight,
            "a payment of this invoice is already in progress",
        )
    } else if is_paid || !invoice.status_at(&payments, now).is_open() {
        Refusal::new(
            RefusalCode::InvoiceClosed,
            "no coin can be selected for this invoice any more",
        )
    } else {
        return Ok(());
    };
    Err(refusal.into())
}
