//! Settles an invoice: loads its data, recomputes it, saves the changes, and records the event.
//!
//! Invariant: no other code changes the status of an invoice.

use super::events::{EventSubject, record_event};
use super::followed::lagging_chains;
use super::{Error, Json, Step};
use crate::domain::scanned::awaited_chains;
use crate::domain::{
    EventType, Invoice, InvoiceChange, InvoiceCoin, InvoiceStatus, LaggingChains, Payment, Quote,
    Time, Units, quote, render,
};
use crate::store::{Touched, file, invoice_steps, invoices, payments, quotes};
use serde_json::value::RawValue;

/// Reason why an invoice is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettleCause {
    /// A payment was confirmed. An event is recorded even if the status stays the same.
    Confirmed,
    /// Any other reason. An event is recorded only if the status changes.
    Other,
}

/// Recomputes an invoice from its payments and the time, and records an event.
pub(super) fn settle_invoice(
    step: &Step<'_>,
    invoice: Invoice,
    cause: SettleCause,
) -> Result<Invoice, Error> {
    let (invoice, _) = settle_and_render(step, invoice, cause)?;
    Ok(invoice)
}

/// Same as [`settle_invoice`], but also returns the JSON of the invoice if an event was recorded.
pub(super) fn settle_and_render(
    step: &Step<'_>,
    invoice: Invoice,
    cause: SettleCause,
) -> Result<(Invoice, Option<Json>), Error> {
    let Step { service, tx, .. } = *step;
    let always_notifies = cause == SettleCause::Confirmed;
    if tx.defer(Touched::Invoice { invoice: invoice.seq, always_notifies }) {
        return Ok((invoice, None));
    }
    let before = invoice.status;
    let invoice = recompute_invoice(step, invoice)?;
    let status_before = Some(before).filter(|before| *before != invoice.status);
    let has_event = status_before.is_some() || always_notifies;
    let Some(kind) = EventType::for_status(invoice.status).filter(|_| has_event) else {
        return Ok((invoice, None));
    };
    let object = render::invoice(&invoice, &service.links, &[])?;
    record_invoice_event(step, &invoice, &object, kind, status_before)?;
    Ok((invoice, Some(object)))
}

/// Recomputes an invoice, and saves the invoice with its change of status.
fn recompute_invoice(step: &Step<'_>, mut invoice: Invoice) -> Result<Invoice, Error> {
    let Step { tx, now, .. } = *step;
    #[cfg(test)]
    step.service.recomputed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let payments = payments::of_invoice(tx, invoice.seq)?;
    let before = invoice.status;
    let quotes = quotes::of_invoice(tx, invoice.seq)?;
    let scanned = if quotes.is_empty() {
        LaggingChains::default()
    } else {
        lagging_chains(tx, invoice.mode)?
    };
    compute_invoice(&mut invoice, &payments, &quotes, &scanned, now)?;
    invoice.confirmed_at = match (invoice.status.is_paid(), before.is_paid()) {
        (true, true) => invoice.confirmed_at,
        (true, false) => Some(now),
        (false, _) => None,
    };
    invoices::update(tx, &invoice)?;
    if matches!(invoice.status, InvoiceStatus::Expired | InvoiceStatus::Failed) {
        file::save_last_tick(tx, now)?;
    }
    if invoice.status != before {
        invoice_steps::insert(tx, invoice.seq, now, InvoiceChange::Status(invoice.status))?;
    }
    Ok(invoice)
}

/// Records an event of an invoice. `object` is the invoice as JSON, and `status_before` its status before if that has
/// changed.
pub(super) fn record_invoice_event(
    step: &Step<'_>,
    invoice: &Invoice,
    object: &RawValue,
    kind: EventType,
    status_before: Option<InvoiceStatus>,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let subject = EventSubject {
        account: invoice.account,
        mode: invoice.mode,
        id: &invoice.id,
        object,
        own_url: invoice.webhook_url.as_deref(),
        status_before: status_before.map(InvoiceStatus::as_str),
    };
    record_event(tx, now, kind, &subject)
}

/// Computes the fields of an invoice that follow from its payments, its quotes and the time.
pub(super) fn compute_invoice(
    invoice: &mut Invoice,
    payments: &[Payment],
    quotes: &[Quote],
    scanned: &LaggingChains,
    now: Time,
) -> Result<(), Error> {
    invoice.waits_for = awaited_chains(invoice.mode, quotes, invoice.terms().deadline());
    let at = invoice_status_time(invoice, scanned, now);
    let is_own = |seq: &i64| quotes.iter().any(|quote| quote.seq == *seq && !quote.given);
    // A selected quote is deselected if its address does not belong to the invoice.
    invoice.picked_quote = invoice.picked_quote.filter(is_own);
    invoice.status = invoice.status_at(payments, at);
    let picked = quotes.iter().find(|quote| Some(quote.seq) == invoice.picked_quote);
    // An open invoice requests payment at an address that it owns, even if payments arrived at other addresses.
    let current = quote::current_quote(quotes, payments, invoice.picked_quote)
        .filter(|quote| !(quote.given && invoice.status.is_open()))
        .or(picked);
    // Without a selected quote, the quote of the counted payments is selected.
    invoice.picked_quote = invoice.picked_quote.or(current.map(|quote| quote.seq));
    invoice.coin = current.map(InvoiceCoin::from);
    invoice.amount_received = received_amount(invoice, payments)?;
    Ok(())
}

/// Returns the time for which the status of an invoice is computed.
///
/// For an expired or failed invoice, the time is never before the invoice's deadline. A late request or a clock that
/// was set back therefore does not reopen the invoice.
///
/// While an invoice waits for a lagging chain, returns the time up to which the chain has been scanned.
pub(super) fn invoice_status_time(invoice: &Invoice, scanned: &LaggingChains, now: Time) -> Time {
    let deadline = invoice.terms().deadline();
    match invoice.status {
        InvoiceStatus::Expired | InvoiceStatus::Failed => now.max(deadline),
        InvoiceStatus::Created
        | InvoiceStatus::AwaitingPayment
        | InvoiceStatus::Detected
        | InvoiceStatus::Confirmed
        | InvoiceStatus::Overpaid
        | InvoiceStatus::Underpaid
        | InvoiceStatus::PaidLate
        | InvoiceStatus::Cancelled => scanned.status_time(&invoice.waits_for, deadline, now),
    }
}

/// Returns the sum of seen and confirmed payments in the invoice's coin. `None` if there are none.
fn received_amount(invoice: &Invoice, payments: &[Payment]) -> Result<Option<Units>, Error> {
    let Some(coin) = &invoice.coin else {
        return Ok(None);
    };
    let mut counted = payments
        .iter()
        .filter(|payment| payment.counts_for_invoice() && payment.asset == coin.asset)
        .peekable();
    if counted.peek().is_none() {
        return Ok(None);
    }
    Ok(Some(counted.try_fold(Units::ZERO, |sum, payment| sum.plus(payment.amount))?))
}
