//! Creates invoices. Prepares as much as possible before the transaction.
//!
//! Invariant: an invoice has the account settings that are current in the transaction that writes the invoice.

use crate::domain::invoice::draft::{self, CreateInvoice};
use crate::domain::time::SECOND_MS;
use crate::domain::{
    Account, Asset, Cents, EventType, Invoice, InvoiceChange, InvoiceStatus, LaggingChains, Mode,
    Refusal, RefusalCode, Time, id,
};
use crate::render;
use crate::service::events::record_invoice_event;
use crate::service::idempotency::{IdempotentRequest, IdempotentResponse};
use crate::service::quotes::first_quote_of_new_invoice;
use crate::service::{Error, Json, Requester, Scope, Service, Step, audit_log};
use crate::store::addresses::{self, AddressOwner};
use crate::store::{Reader, Tx, accounts, chains, file, invoice_steps, invoices, quotes};
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;

/// An invoice to create, prepared before the transaction.
struct PreparedInvoice {
    /// Account whose settings were used.
    account: Arc<Account>,
    /// Email of the user who creates the invoice by hand; `None` for the account's own request.
    actor: Option<String>,
    draft: CreateInvoice,
    /// Warnings about the request body.
    warnings: Vec<String>,
    /// The invoice and its JSON, or the refusal of its price. The JSON is `None` if a coin must be selected first.
    invoice: Result<(Invoice, Option<Json>), Refusal>,
}

impl Service {
    /// Creates an invoice, or returns the existing invoice with the same orderId or idempotency key.
    ///
    /// # Errors
    ///
    /// Documented at `POST /v1/invoices`.
    pub async fn create_invoice(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        requester: Requester<'_>,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        let scope = *scope;
        let (account, mode) = (scope.account(), scope.mode());
        let actor = match requester {
            Requester::Person(email) => Some(email.to_owned()),
            Requester::Key(_) => None,
        };
        let draft =
            CreateInvoice::read(&request.body).and_then(|draft| self.check_webhook_url(draft));
        let drawn = match draft {
            Ok(draft) => {
                let warnings = draft::unknown_field_warnings(&request.body);
                let account = self.cached_account(account)?;
                self.prepare_invoice(now, account, mode, actor, draft, warnings)?
            }
            Err(refusal) => {
                let check = |db: &Reader<'_>| {
                    check_may_create(db, &accounts::by_seq(db, account)?, mode)?;
                    Err(refusal.into())
                };
                let kept = self.check_before_write(now, scope, &request, check)?;
                return kept.ok_or_else(invoice_not_written_error);
            }
        };
        let asset = drawn.draft.asset.as_deref();
        if let Some(asset) = asset.and_then(Asset::find) {
            self.fill_stock(mode, asset.chain)?;
        }
        self.write_repeatable(now, move |step| {
            request.run_once(step, scope, || check_and_create_invoice(step, account, mode, &drawn))
        })
        .await
    }

    /// Refuses a webhookUrl to which requests are not allowed.
    fn check_webhook_url(&self, draft: CreateInvoice) -> Result<CreateInvoice, Refusal> {
        let url = draft.webhook_url.as_deref();
        match url.map_or(Ok(()), |url| (self.webhook_check)(url)) {
            Ok(()) => Ok(draft),
            Err(problem) => Err(Refusal::field("webhookUrl", problem)),
        }
    }

    /// Prepares an invoice with the settings of an account, without a transaction.
    fn prepare_invoice(
        &self,
        now: Time,
        account: Arc<Account>,
        mode: Mode,
        actor: Option<String>,
        draft: CreateInvoice,
        warnings: Vec<String>,
    ) -> Result<PreparedInvoice, Error> {
        let invoice = match account.check_price(draft.amount) {
            Err(refusal) => Err(refusal),
            Ok(amount) => {
                let invoice = new_invoice(&account, mode, amount, &draft, now);
                let object = match draft.asset {
                    Some(_) => None,
                    None => Some(render::invoice(&invoice, &self.links, &[])?),
                };
                Ok((invoice, object))
            }
        };
        Ok(PreparedInvoice { account, actor, draft, warnings, invoice })
    }

    /// Returns the response for a new invoice: the object of its event, with warnings if there are any.
    fn render_with_warnings(
        &self,
        invoice: &Invoice,
        object: &RawValue,
        warnings: &[String],
    ) -> Result<Json, Error> {
        if warnings.is_empty() {
            return Ok(object.to_owned());
        }
        Ok(render::invoice(invoice, &self.links, warnings)?)
    }

    fn response_for_existing_order_id(
        &self,
        tx: &Tx<'_>,
        mode: Mode,
        drawn: &PreparedInvoice,
    ) -> Result<Option<IdempotentResponse>, Error> {
        let Some(order_id) = &drawn.draft.order_id else {
            return Ok(None);
        };
        let Some(existing) = invoices::by_order(tx, drawn.account.seq, mode, order_id)? else {
            return Ok(None);
        };
        let mut warnings = drawn.warnings.clone();
        warnings.extend(difference_warnings(&drawn.draft, &existing));
        let json = render::invoice(&existing, &self.links, &warnings)?;
        Ok(Some(IdempotentResponse::existing(json)))
    }
}

/// Makes the checks in their documented order, then creates the invoice.
fn check_and_create_invoice(
    step: &Step<'_>,
    account: i64,
    mode: Mode,
    drawn: &PreparedInvoice,
) -> Result<IdempotentResponse, Error> {
    let Step { service, tx, now } = *step;
    let account = accounts::by_seq(tx, account)?;
    check_may_create(tx, &account, mode)?;
    // Settings may have changed since the invoice was prepared.
    let again = if account == *drawn.account {
        None
    } else {
        let (actor, draft) = (drawn.actor.clone(), drawn.draft.clone());
        let warnings = drawn.warnings.clone();
        Some(service.prepare_invoice(now, Arc::new(account), mode, actor, draft, warnings)?)
    };
    let drawn = again.as_ref().unwrap_or(drawn);
    let (invoice, object) = match &drawn.invoice {
        Ok(drawn) => drawn,
        Err(refusal) => {
            let made = service.response_for_existing_order_id(tx, mode, drawn)?;
            return made.ok_or_else(|| refusal.clone().into());
        }
    };
    if let Some(asset) = &drawn.draft.asset {
        return create_with_coin(step, drawn, invoice, asset);
    }
    let object = object.as_ref().ok_or_else(invoice_not_written_error)?;
    if invoices::insert(tx, invoice)?.is_none() {
        let made = service.response_for_existing_order_id(tx, mode, drawn)?;
        return made.ok_or_else(invoice_not_written_error);
    }
    record_creation(step, drawn, invoice, object)?;
    let mut warnings = drawn.warnings.clone();
    warnings.extend(service.offer_warning(tx, invoice.mode, now, invoice.currency)?);
    let answer = service.render_with_warnings(invoice, object, &warnings)?;
    Ok(IdempotentResponse::created(answer))
}

/// Creates an invoice and selects its coin. If the coin is unavailable, no coin is selected and the response has
/// a warning.
fn create_with_coin(
    step: &Step<'_>,
    drawn: &PreparedInvoice,
    invoice: &Invoice,
    asset: &str,
) -> Result<IdempotentResponse, Error> {
    let Step { service, tx, now } = *step;
    // The orderId is checked before an address is claimed.
    if let Some(made) = service.response_for_existing_order_id(tx, invoice.mode, drawn)? {
        return Ok(made);
    }
    let (mut invoice, mut warnings) = (invoice.clone(), drawn.warnings.clone());
    let quote = match first_quote_of_new_invoice(step, &invoice, asset) {
        Ok(quote) => Some(quote),
        Err(Error::Refused(refusal)) => {
            warnings.push(format!("asset was not preselected: {}", refusal.message));
            warnings.extend(service.offer_warning(tx, invoice.mode, now, invoice.currency)?);
            None
        }
        Err(failure) => return Err(failure),
    };
    if let Some((quote, _)) = &quote {
        invoice.picked_quote = Some(quote.seq);
        let quotes = std::slice::from_ref(quote);
        invoice.recompute(&[], quotes, &LaggingChains::default(), now)?;
    }
    let seq = invoices::insert(tx, &invoice)?.ok_or_else(invoice_not_written_error)?;
    if let Some((quote, taken)) = &quote {
        let (chain, owner) = (quote.asset.chain, AddressOwner::Invoice(seq));
        addresses::insert(tx, invoice.mode, chain, &quote.address, *taken, owner)?;
        if quotes::insert(tx, seq, quote)? != quote.seq {
            return Err(Error::Failed("a quote got another number".to_owned()));
        }
        chains::expect_payments(tx, invoice.mode, quote.asset.chain);
        invoice_steps::insert(tx, seq, now, InvoiceChange::Picked(quote.seq))?;
        invoice_steps::insert(tx, seq, now, InvoiceChange::Status(invoice.status))?;
    }
    let object = render::invoice(&invoice, &service.links, &[])?;
    record_creation(step, drawn, &invoice, &object)?;
    let answer = service.render_with_warnings(&invoice, &object, &warnings)?;
    Ok(IdempotentResponse::created(answer))
}

/// Records the event of a new invoice. An invoice that a user creates by hand is also recorded in the audit log.
fn record_creation(
    step: &Step<'_>,
    drawn: &PreparedInvoice,
    invoice: &Invoice,
    object: &RawValue,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    if let Some(actor) = &drawn.actor {
        let detail = json!({
            "amount": invoice.amount, "currency": invoice.currency, "orderId": invoice.order_id,
            "mode": invoice.mode,
        });
        let (account, id) = (Some(invoice.account), Some(invoice.id.as_str()));
        audit_log::record(tx, now, actor, "invoice.create", account, id, &detail)?;
    }
    record_invoice_event(step, invoice, object, EventType::InvoiceCreated, None)
}

/// Refuses to create an invoice if the account's status forbids new invoices. During maintenance, live invoices are
/// refused.
pub(in crate::service) fn check_may_create(
    db: &Reader<'_>,
    account: &Account,
    mode: Mode,
) -> Result<(), Error> {
    account.status.check_can_create_invoices()?;
    if mode.is_live() && file::read_file_row(db)?.is_some_and(|file| file.maintenance) {
        let message = "live invoices are paused for maintenance";
        return Err(Refusal::new(RefusalCode::Maintenance, message).into());
    }
    Ok(())
}

fn invoice_not_written_error() -> Error {
    Error::Failed("an invoice was not written".to_owned())
}

/// Returns warnings for a repeated orderId with another amount or currency.
fn difference_warnings(draft: &CreateInvoice, existing: &Invoice) -> Vec<String> {
    let mut warnings = Vec::new();
    if draft.amount != Some(existing.amount) {
        warnings.push(format!("this orderId exists with another amount: {}", existing.amount));
    }
    if draft.currency != existing.currency {
        warnings.push(format!("this orderId exists in another currency: {}", existing.currency));
    }
    warnings
}

/// Returns the invoice for a draft. The invoice is not stored yet.
pub(in crate::service) fn new_invoice(
    account: &Account,
    mode: Mode,
    amount: Cents,
    draft: &CreateInvoice,
    now: Time,
) -> Invoice {
    let ttl_seconds = draft.ttl_seconds.unwrap_or(account.ttl_seconds);
    Invoice {
        seq: 0,
        id: id::new(now).to_string(),
        account: account.seq,
        mode,
        order_id: draft.order_id.clone(),
        status: InvoiceStatus::Created,
        amount,
        currency: draft.currency,
        description: draft.description.clone(),
        coin: None,
        amount_received: None,
        picked_quote: None,
        redirect_url: draft.redirect_url.as_ref().or(account.success_url.as_ref()).cloned(),
        cancel_url: draft.cancel_url.as_ref().or(account.cancel_url.as_ref()).cloned(),
        webhook_url: draft.webhook_url.clone(),
        metadata: draft.metadata.clone(),
        customer_email: draft.customer_email.clone(),
        payment_link_id: None,
        refunded: None,
        under: account.under,
        over: account.over,
        created_at: now,
        expires_at: now.plus_ms(ttl_seconds.saturating_mul(SECOND_MS)),
        confirmed_at: None,
        cancelled_at: None,
        waits_for: String::new(),
    }
}
