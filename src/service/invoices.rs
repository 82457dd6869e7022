//! Reads, cancels and expires invoices.
//!
//! `create` creates them, `listing` lists them for the operator, `quotes` selects a coin, and `intake` books payments.
//!
//! Invariant: only `settle` determines the status.

mod create;
pub mod exports;
pub mod listing;

pub(in crate::service) use create::{check_may_create, new_invoice};

use super::cache::Generation;
use super::idempotency::{IdempotentRequest, IdempotentResponse};
use super::lookups::owned_invoice;
use super::settle::{SettleCause, settle_invoice};
use super::{Error, Json, Scope, Service, Step, audit_log, page};
use crate::domain::{Invoice, InvoiceStatus, Mode, Refusal, RefusalCode, Time};
use crate::render;
use crate::store::{PageBounds, Reader, chains, invoices, payments};
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Maximum number of invoices that one expiry transaction closes.
const EXPIRE_BATCH_MAX: u32 = 200;

/// An invoice rendered as JSON, with its account and mode.
#[derive(Clone)]
pub struct RenderedInvoice {
    account: i64,
    mode: Mode,
    status: InvoiceStatus,
    json: Arc<RawValue>,
}

/// Query for one page of invoices.
#[derive(Clone, Debug)]
pub struct InvoiceListQuery {
    /// Status of the invoices. `None` for all statuses.
    pub status: Option<InvoiceStatus>,
    /// The merchant's order id of the invoices. `None` for all order ids.
    pub order_id: Option<String>,
    /// Id of an invoice: only older invoices are returned.
    pub before: Option<String>,
    /// Maximum number of invoices.
    pub limit: u32,
}

/// A page of invoices.
pub struct InvoicePage {
    /// The invoices, newest first.
    pub data: Vec<Arc<RawValue>>,
    /// Id of the last invoice in the page. `None` if there are no older invoices.
    pub next_before: Option<String>,
}

impl Service {
    /// Returns one invoice as JSON.
    ///
    /// # Errors
    ///
    /// `not_found` if the invoice is not the caller's.
    pub fn invoice(&self, scope: &Scope, id: &str) -> Result<Arc<RawValue>, Error> {
        let mine = |found: &RenderedInvoice| {
            found.account == scope.account() && found.mode == scope.mode()
        };
        let found = match self.caches.invoices.get(id) {
            Ok(found) => Some(found),
            Err(generation) => self.read(|db| self.render_cached_invoice(db, id, generation))?,
        };
        let found = found.filter(mine);
        let found = found.ok_or_else(|| Refusal::not_found("invoice"))?;
        Ok(found.json)
    }

    /// Returns a page of invoices, newest first.
    ///
    /// # Errors
    ///
    /// `invalid_request` if `before` is not the id of an invoice of the caller.
    pub fn invoices(&self, scope: &Scope, wanted: &InvoiceListQuery) -> Result<InvoicePage, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read(|db| {
            let find = |id: &str| {
                let found = invoices::by_id(db, id)?;
                let own = found.filter(|of| of.account == account && of.mode == mode);
                Ok::<_, Error>(own.map(|invoice| invoice.seq))
            };
            let before = page::find_page_start(wanted.before.as_deref(), find)?;
            let page = PageBounds::with_one_more_row(before, wanted.limit);
            let mut ids = match &wanted.order_id {
                None => invoices::list(db, account, mode, wanted.status, page)?,
                Some(order_id) => {
                    let found = invoices::by_order(db, account, mode, order_id)?;
                    let found = found.into_iter().filter(|invoice| invoice.seq < page.before);
                    found.map(|invoice| invoice.id).collect()
                }
            };
            let limit = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
            let has_more = ids.len() > limit;
            ids.truncate(limit);
            let next_before = ids.last().filter(|_| has_more).cloned();
            let found = ids.iter().filter_map(|id| match self.caches.invoices.get(id) {
                Ok(found) => Some(Ok(found)),
                Err(generation) => self.render_cached_invoice(db, id, generation).transpose(),
            });
            // Leaves out an invoice whose status changed after the invoices were listed.
            let fits =
                |found: &RenderedInvoice| wanted.status.is_none_or(|status| status == found.status);
            let fitting = found
                .filter(|found| found.as_ref().map_or(true, fits))
                .map(|found| found.map(|found| found.json));
            Ok(InvoicePage { data: fitting.collect::<Result<_, Error>>()?, next_before })
        })
    }

    /// Renders an invoice as JSON, and caches the result.
    fn render_cached_invoice(
        &self,
        db: &Reader<'_>,
        id: &str,
        generation: Generation,
    ) -> Result<Option<RenderedInvoice>, Error> {
        let Some(invoice) = invoices::by_id(db, id)? else {
            return Ok(None);
        };
        let json = render::invoice(&invoice, &self.links, &[])?.into();
        let rendered = RenderedInvoice {
            account: invoice.account,
            mode: invoice.mode,
            status: invoice.status,
            json,
        };
        self.caches.invoices.put(invoice.id, rendered.clone(), generation);
        Ok(Some(rendered))
    }

    /// Cancels an invoice of the caller, or returns the answer that is stored under this Idempotency-Key.
    ///
    /// `actor` is the name of the caller in the audit log.
    ///
    /// # Errors
    ///
    /// `not_found`, `invoice_not_cancellable`, and `idempotency_conflict` if the key was used for another invoice.
    pub async fn cancel_invoice(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        actor: String,
        id: String,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        let scope = *scope;
        self.write(now, move |step| {
            request.run_once(step, scope, || {
                let cancelled = cancel_owned_invoice(step, &scope, &actor, &id)?;
                Ok(IdempotentResponse::existing(cancelled))
            })
        })
        .await
    }

    /// Cancels an invoice of any account, for the sandbox.
    ///
    /// # Errors
    ///
    /// `not_found`, `invoice_not_cancellable`.
    pub async fn cancel_sandbox_invoice(
        self: &Arc<Self>,
        now: Time,
        id: String,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        self.write(now, move |step| {
            let invoice =
                invoices::by_id(step.tx, &id)?.ok_or_else(|| Refusal::not_found("invoice"))?;
            request.run_once(step, Scope::new(invoice.account, invoice.mode), || {
                cancel_loaded_invoice(step, invoice).map(IdempotentResponse::existing)
            })
        })
        .await
    }

    /// Closes one batch of invoices whose deadline has passed, in a separate transaction. Returns the number of
    /// closed invoices.
    pub async fn expire_invoices(self: &Arc<Self>, now: Time) -> Result<usize, Error> {
        self.write(now, expire_batch).await
    }

    /// Returns the time at which the next invoice expires.
    pub fn next_expiry(&self) -> Result<Option<Time>, Error> {
        self.read(|db| Ok(invoices::next_expiry_time(db, &chains::lagging_chains(db)?)?))
    }
}

/// Cancels an invoice.
///
/// # Errors
///
/// `invoice_not_cancellable`.
pub(super) fn cancel_loaded_invoice(step: &Step<'_>, mut invoice: Invoice) -> Result<Json, Error> {
    let Step { service, tx, now } = *step;
    let payments = payments::of_invoice(tx, invoice.seq)?;
    let at = invoice.status_time(&chains::lagging_chains(tx)?, now);
    let open = invoice.status_at(&payments, at).is_open();
    if !open || payments.iter().any(|payment| payment.counts_for_invoice()) {
        let message = "only an invoice that is open and has no payment can be cancelled";
        return Err(Refusal::new(RefusalCode::InvoiceNotCancellable, message).into());
    }
    invoice.cancelled_at = Some(now);
    let invoice = settle_invoice(step, invoice, SettleCause::Other)?;
    Ok(render::invoice(&invoice, &service.links, &[])?)
}

/// Closes one batch of invoices whose deadline has passed. Returns the number of closed invoices.
pub(super) fn expire_batch(step: &Step<'_>) -> Result<usize, Error> {
    let Step { tx, now, .. } = *step;
    let due =
        invoices::list_overdue_invoices(tx, &chains::lagging_chains(tx)?, now, EXPIRE_BATCH_MAX)?;
    for seq in &due {
        settle_invoice(step, invoices::by_seq(tx, *seq)?, SettleCause::Other)?;
    }
    Ok(due.len())
}

/// Cancels an invoice, and records the cancellation in the audit log.
///
/// # Errors
/// `not_found`, `invoice_not_cancellable`.
pub fn cancel_owned_invoice(
    step: &Step<'_>,
    scope: &Scope,
    actor: &str,
    id: &str,
) -> Result<Json, Error> {
    let Step { tx, now, .. } = *step;
    let invoice = owned_invoice(tx, scope, id)?;
    let id = invoice.id.clone();
    let cancelled = cancel_loaded_invoice(step, invoice)?;
    audit_log::record(
        tx,
        now,
        actor,
        "invoice.cancel",
        Some(scope.account()),
        Some(&id),
        &json!({}),
    )?;
    Ok(cancelled)
}
