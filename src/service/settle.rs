//! Settles an invoice: loads its data, recomputes it, saves the changes, and records the event.
//!
//! Invariant: no other code changes the status of an invoice.

use super::events::record_invoice_event;
use super::followed::lagging_chains;
use super::{Error, Json, Step};
use crate::domain::{EventType, Invoice, InvoiceChange, InvoiceStatus, LaggingChains};
use crate::render;
use crate::store::{Touched, file, invoice_steps, invoices, payments, quotes};

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
    invoice.recompute(&payments, &quotes, &scanned, now)?;
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
