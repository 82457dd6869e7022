//! Simulates payments of a test invoice, and computes the amount due.
//!
//! `observations` stores payments, and `intake` books them.
//!
//! Invariant: the same code handles simulated payments and payments on a chain.

use super::idempotency::{IdempotentRequest, IdempotentResponse};
use super::intake::payment::book_payment;
use super::lookups::owned_invoice;
use super::observations::record_observation;
use super::quotes::select_quote_among;
use super::{Error, Json, Scope, Service, Step};
use crate::domain::payment::simulated_txid;
use crate::domain::quote::{amount_due, coin_unavailable};
use crate::domain::{
    Asset, Cents, Invoice, Observation, ObservationOwner, Overflow, PaymentState, Quote, RateQuote,
    Refusal, RefusalCode, SimulatedAmount, Time, Total, id,
};
use crate::render;
use crate::store::{accounts, observations, payments, quotes};
use std::sync::Arc;

/// Maximum number of simulated payments of an invoice. Each payment reads all earlier payments of the invoice, while
/// all other writes wait.
const SIMULATED_MAX: usize = 100;

impl Service {
    /// Simulates a payment of a test invoice, with the same steps as a real one: seen, then confirmed.
    ///
    /// # Errors
    ///
    /// `not_found`, `not_test_invoice`, `coin_unavailable`.
    pub async fn simulate_payment(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        id: &str,
        case: SimulatedAmount,
        asset: Option<String>,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        let (scope, id) = (*scope, id.to_owned());
        self.write_repeatable(now, move |step| {
            request.run_once(step, scope, || {
                let paid = pay_invoice(step, &scope, &id, case, asset.as_deref())?;
                Ok(IdempotentResponse::existing(paid))
            })
        })
        .await
    }
}

/// Pays a test invoice in one payment, which is confirmed at once.
///
/// # Errors
///
/// `not_found`, `not_test_invoice`, `coin_unavailable`.
pub(super) fn pay_invoice(
    step: &Step<'_>,
    scope: &Scope,
    id: &str,
    case: SimulatedAmount,
    asset: Option<&str>,
) -> Result<Json, Error> {
    let Step { service, tx, now } = *step;
    let mut invoice = owned_invoice(tx, scope, id)?;
    if invoice.mode.is_live() {
        return Err(Refusal::new(
            RefusalCode::NotTestInvoice,
            "only a test invoice can be simulated",
        )
        .into());
    }
    let before = payments::of_invoice(tx, invoice.seq)?;
    if before.len() >= SIMULATED_MAX {
        let message = format!(
            "a test invoice takes at most {SIMULATED_MAX} simulated payments; make another one"
        );
        return Err(Refusal::new(RefusalCode::InvalidRequest, message).into());
    }
    let quote = quote_to_pay(step, &mut invoice, asset)?;
    let counting = before.iter().filter(|payment| payment.counts_for_invoice());
    let due = amount_still_due(&invoice, counting.map(|payment| payment.value))?;
    let fiat = match case {
        SimulatedAmount::Exact => due,
        SimulatedAmount::Under => due.half(),
        SimulatedAmount::Over => due.one_and_a_half()?,
    };
    let amount = quote.quoted.rate.units_for(fiat, quote.asset.decimals)?;
    let seen = Observation {
        mode: invoice.mode,
        asset: quote.asset,
        txid: simulated_txid(quote.asset.chain, &id::new(now).to_string()),
        position: 0,
        address: quote.address,
        amount,
        seen_at: now,
        block: None,
        spends: Vec::new(),
    };
    let seen = record_observation(step, &seen, Some(invoice))?;
    let seen = seen.ok_or_else(|| Error::Failed("nothing was due".to_owned()))?;
    let ObservationOwner::Payment(seen) = seen.into_booked_owner()? else {
        return Err(Error::Failed("what was due is no payment".to_owned()));
    };
    let (invoice, payment) = *seen;
    let (before, next) = (payment.state, PaymentState::Confirmed);
    observations::update(tx, payment.observation, before, next, now)?;
    let (invoice, _, told) = book_payment(step, invoice, payment, next)?;
    // The response is the same JSON as the event's object.
    told.map_or_else(|| Ok(render::invoice(&invoice, &service.links, &[])?), Ok)
}

/// Returns the quote that a simulated payment pays.
///
/// Uses the invoice's coin, else `asset`, else the first coin that accepts the price.
pub(super) fn quote_to_pay(
    step: &Step<'_>,
    invoice: &mut Invoice,
    asset: Option<&str>,
) -> Result<Quote, Error> {
    let Step { service, tx, now } = *step;
    // The coin of the invoice, if any, takes precedence over `asset`.
    let own = invoice.coin.as_ref().map(|coin| coin.asset);
    let quotes = quotes::of_invoice(tx, invoice.seq)?;
    let existing = |quote: &&Quote| Some(quote.asset) == own && !quote.given;
    if let Some(quote) = quotes.iter().find(existing) {
        return Ok(quote.clone());
    }
    if let Some(asset) = asset {
        return select_quote_among(step, invoice, asset, quotes);
    }
    let takes = |(asset, quoted): &(&Asset, RateQuote)| {
        amount_due(asset, quoted.rate, invoice.amount).is_ok()
    };
    let spread = accounts::by_seq(tx, invoice.account)?.spread;
    let on_offer = service.offered_coins(tx, now, invoice.mode, invoice.currency, spread)?;
    let (first, _) = on_offer
        .into_iter()
        .find(takes)
        .ok_or_else(|| coin_unavailable("no coin takes so small an amount"))?;
    select_quote_among(step, invoice, first.id, quotes)
}

/// Returns the amount that is still due after payments with these values. If nothing is due, returns the whole price.
pub(super) fn amount_still_due(
    invoice: &Invoice,
    counting: impl IntoIterator<Item = Cents>,
) -> Result<Cents, Overflow> {
    let paid = counting.into_iter().sum::<Total>();
    match Total::from(invoice.amount).minus(paid) {
        rest if rest > Total::ZERO => rest.cents(),
        _ => Ok(invoice.amount),
    }
}
