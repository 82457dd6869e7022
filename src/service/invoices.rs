//! Invoices: making, reading, calling off, expiring.
//!
//! What does not live here: picking a coin (`quotes`), what money does to an invoice (`payments`). What always holds:
//! the status comes from the one step in `settle`.

use super::cache::Generation;
use super::idempotency::{Outcome, Slot, once};
use super::settle::{Cause, judged_at};
use super::{Error, Json, Scope, Service};
use crate::domain::account::Account;
use crate::domain::asset::Mode;
use crate::domain::invoice::Invoice;
use crate::domain::invoice::draft::Draft;
use crate::domain::money::Cents;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::status::{InvoiceStatus, status};
use crate::domain::time::{SECOND_MS, Time};
use crate::domain::{id, render};
use crate::store::{Reader, Tx, accounts, chains, file, invoices, payments, quotes};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Invoices that one expiry step closes at most.
const EXPIRE_BATCH_MAX: u32 = 200;

/// An invoice as it is answered, and whose it is.
#[derive(Clone)]
pub struct Rendered {
    account: i64,
    mode: Mode,
    status: InvoiceStatus,
    json: Arc<RawValue>,
}

/// Which invoices are asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Only of this status.
    pub status: Option<InvoiceStatus>,
    /// Only with this reference of the merchant's.
    pub order_id: Option<String>,
    /// How many at most.
    pub limit: u32,
}

impl Service {
    /// Makes an invoice, or finds the one that its orderId or its Idempotency-Key already made.
    ///
    /// # Errors
    /// As `POST /v1/invoices` documents them.
    pub async fn create_invoice(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        body: Map<String, Value>,
        client_key: Option<String>,
    ) -> Result<(Outcome, String), Error> {
        let (account, mode) = (scope.account(), scope.mode());
        let slot = client_key.map(|client_key| Slot {
            account,
            mode,
            route: "createInvoice",
            client_key,
        });
        let draft = Draft::parse(&body).and_then(|draft| self.checked(draft));
        self.write(move |service, tx| {
            once(tx, now, slot.as_ref(), &body, || {
                service.create(tx, now, account, mode, draft)
            })
        })
        .await
    }

    /// Refuses a webhookUrl that may not be called.
    fn checked(&self, draft: Draft) -> Result<Draft, Refusal> {
        let url = draft.webhook_url.as_deref();
        match url.map_or(Ok(()), |url| (self.webhook_check)(url)) {
            Ok(()) => Ok(draft),
            Err(problem) => Err(Refusal::field("webhookUrl", problem)),
        }
    }

    /// The checks on creation in their documented order, then the invoice.
    fn create(
        &self,
        tx: &Tx<'_>,
        now: Time,
        account: i64,
        mode: Mode,
        draft: Result<Draft, Refusal>,
    ) -> Result<(Outcome, String), Error> {
        let account = accounts::by_seq(tx, account)?;
        may_be_made(tx, &account, mode)?;
        let draft = draft?;
        if let Some(existing) = existing(tx, &account, mode, &draft)? {
            let warnings = differences(&draft, &existing);
            return Ok((
                Outcome::Existing,
                render::invoice(&existing, &self.links, &warnings)?
                    .get()
                    .to_owned(),
            ));
        }
        let amount = account.check_price(draft.amount)?;
        let (preselect, mut warnings) = (draft.asset.clone(), draft.warnings.clone());
        let mut invoice = new_invoice(&account, mode, amount, draft, now);
        invoice.seq = invoices::insert(tx, &invoice)?;
        if let Some(asset) = preselect {
            match self.quote(tx, now, &mut invoice, &asset) {
                Ok(_) => {}
                Err(Error::Refused(refusal)) => {
                    warnings.push(format!("asset was not preselected: {}", refusal.message))
                }
                Err(failure) => return Err(failure),
            }
        }
        let invoice = self.settle(tx, now, invoice, Cause::Created)?;
        Ok((
            Outcome::Created,
            render::invoice(&invoice, &self.links, &warnings)?
                .get()
                .to_owned(),
        ))
    }

    /// One invoice.
    ///
    /// # Errors
    /// `not_found` where it is not the caller's.
    pub fn invoice(&self, scope: &Scope, id: &str) -> Result<Arc<RawValue>, Error> {
        let mine =
            |found: &Rendered| found.account == scope.account() && found.mode == scope.mode();
        let found = match self.caches.invoices.get(id) {
            Ok(found) => Some(found),
            Err(generation) => self.read(|db| self.render(db, id, generation))?,
        };
        let found = found.filter(mine);
        let found = found.ok_or_else(|| Refusal::not_found("invoice"))?;
        Ok(found.json)
    }

    /// The newest invoices.
    ///
    /// # Errors
    /// [`Error::Failed`] where the file fails.
    pub fn invoices(&self, scope: &Scope, wanted: &Wanted) -> Result<Vec<Arc<RawValue>>, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read(|db| {
            let ids = match &wanted.order_id {
                None => invoices::list(db, account, mode, wanted.status, wanted.limit)?,
                Some(order_id) => {
                    let found = invoices::by_order(db, account, mode, order_id)?;
                    found.into_iter().map(|invoice| invoice.id).collect()
                }
            };
            let found = ids
                .iter()
                .filter_map(|id| match self.caches.invoices.get(id) {
                    Ok(found) => Some(Ok(found)),
                    Err(generation) => self.render(db, id, generation).transpose(),
                });
            // By the time it is rendered an invoice may have another status than the list was asked for.
            let fits = |found: &Rendered| wanted.status.is_none_or(|status| status == found.status);
            found
                .filter(|found| found.as_ref().map_or(true, fits))
                .map(|found| found.map(|found| found.json))
                .collect()
        })
    }

    /// An invoice as it is answered, kept for the next who asks.
    fn render(
        &self,
        db: &Reader<'_>,
        id: &str,
        generation: Generation,
    ) -> Result<Option<Rendered>, Error> {
        let Some(invoice) = invoices::by_id(db, id)? else {
            return Ok(None);
        };
        let json = render::invoice(&invoice, &self.links, &[])?.into();
        let rendered = Rendered {
            account: invoice.account,
            mode: invoice.mode,
            status: invoice.status,
            json,
        };
        self.caches
            .invoices
            .put(invoice.id, rendered.clone(), generation);
        Ok(Some(rendered))
    }

    /// Calls an invoice off, as the operator interface does.
    ///
    /// # Errors
    /// `not_found`, `invoice_not_cancellable`.
    pub async fn cancel_invoice(self: &Arc<Self>, now: Time, id: &str) -> Result<Json, Error> {
        let id = id.to_owned();
        self.write(move |service, tx| {
            let invoice = invoices::by_id(tx, &id)?.ok_or_else(|| Refusal::not_found("invoice"))?;
            service.cancel(tx, now, invoice)
        })
        .await
    }

    /// Calls an invoice off.
    ///
    /// # Errors
    /// `invoice_not_cancellable`.
    pub(super) fn cancel(
        &self,
        tx: &Tx<'_>,
        now: Time,
        mut invoice: Invoice,
    ) -> Result<Json, Error> {
        let payments = payments::of_invoice(tx, invoice.seq)?;
        let (quotes, scanned) = (quotes::of_invoice(tx, invoice.seq)?, chains::scanned(tx)?);
        let at = judged_at(&invoice, &quotes, &scanned, now);
        let open = status(&invoice, &payments, at).is_open();
        if !open || payments.iter().any(|payment| payment.counts()) {
            let message = "only an invoice that is open and has no payment can be cancelled";
            return Err(Refusal::new(Code::InvoiceNotCancellable, message).into());
        }
        invoice.cancelled_at = Some(now);
        let invoice = self.settle(tx, now, invoice, Cause::Other)?;
        Ok(render::invoice(&invoice, &self.links, &[])?)
    }

    /// Closes invoices whose time is up; how many.
    ///
    /// # Errors
    /// [`Error::Failed`] where the file fails.
    pub async fn expire_invoices(self: &Arc<Self>, now: Time) -> Result<usize, Error> {
        self.write(move |service, tx| service.expire_batch(tx, now))
            .await
    }

    /// Closes some of the invoices whose time is up; how many.
    pub(super) fn expire_batch(&self, tx: &Tx<'_>, now: Time) -> Result<usize, Error> {
        let due = invoices::due(tx, &chains::scanned(tx)?, now, EXPIRE_BATCH_MAX)?;
        for seq in &due {
            self.settle(tx, now, invoices::by_seq(tx, *seq)?, Cause::Other)?;
        }
        Ok(due.len())
    }

    /// When the next invoice's time is up.
    ///
    /// # Errors
    /// [`Error::Failed`] where the file fails.
    pub fn next_expiry(&self) -> Result<Option<Time>, Error> {
        self.read(|db| Ok(invoices::next_due(db, &chains::scanned(db)?)?))
    }
}

/// Refuses where the account's state or maintenance keeps invoices from being made.
pub(super) fn may_be_made(tx: &Tx<'_>, account: &Account, mode: Mode) -> Result<(), Error> {
    account.status.may_create_invoices()?;
    if mode.is_live() && file::load(tx)?.is_some_and(|file| file.maintenance) {
        let message = "live invoices are paused for maintenance";
        return Err(Refusal::new(Code::Maintenance, message).into());
    }
    Ok(())
}

/// The caller's invoice.
pub(super) fn owned(db: &Reader<'_>, scope: &Scope, id: &str) -> Result<Invoice, Error> {
    let invoice = match id::parse(id) {
        Some(id) => invoices::by_id(db, &id)?,
        None => None,
    };
    let mine =
        |invoice: &Invoice| invoice.account == scope.account() && invoice.mode == scope.mode();
    invoice
        .filter(mine)
        .ok_or_else(|| Refusal::not_found("invoice").into())
}

/// The invoice that the draft's orderId already made.
fn existing(
    tx: &Tx<'_>,
    account: &Account,
    mode: Mode,
    draft: &Draft,
) -> Result<Option<Invoice>, Error> {
    match &draft.order_id {
        None => Ok(None),
        Some(order_id) => Ok(invoices::by_order(tx, account.seq, mode, order_id)?),
    }
}

/// What the merchant should know who made an orderId again.
fn differences(draft: &Draft, existing: &Invoice) -> Vec<String> {
    let mut warnings = draft.warnings.clone();
    if draft.amount != Some(existing.amount) {
        warnings.push(format!(
            "this orderId exists with another amount: {}",
            existing.amount
        ));
    }
    if draft.currency != existing.currency {
        warnings.push(format!(
            "this orderId exists in another currency: {}",
            existing.currency
        ));
    }
    warnings
}

/// The invoice of a draft, before it has a place in the file.
pub(super) fn new_invoice(
    account: &Account,
    mode: Mode,
    amount: Cents,
    draft: Draft,
    now: Time,
) -> Invoice {
    let ttl_seconds = draft.ttl_seconds.unwrap_or(account.ttl_seconds);
    Invoice {
        seq: 0,
        id: id::new(now).to_string(),
        account: account.seq,
        mode,
        order_id: draft.order_id,
        status: InvoiceStatus::Created,
        amount,
        currency: draft.currency,
        description: draft.description,
        coin: None,
        amount_received: None,
        picked_quote: None,
        redirect_url: draft.redirect_url.or_else(|| account.success_url.clone()),
        cancel_url: draft.cancel_url.or_else(|| account.cancel_url.clone()),
        webhook_url: draft.webhook_url,
        metadata: draft.metadata,
        customer_email: draft.customer_email,
        payment_link_id: None,
        refunded: None,
        under: account.under,
        over: account.over,
        created_at: now,
        expires_at: now.plus_ms(ttl_seconds.saturating_mul(SECOND_MS)),
        confirmed_at: None,
        cancelled_at: None,
    }
}
