//! Invoices as an operator or a merchant looks at them: searching, all that is known of one, its timeline, calling
//! one off.

use super::events::{Page, unknown_before};
use super::invoices::owned;
use super::{Caller, Error, Json, Service, members};
use crate::domain::money::Currency;
use crate::domain::render;
use crate::domain::status::{InvoiceStatus, Judged};
use crate::domain::time::Time;
use crate::domain::timeline::{History, Sums, timeline};
use crate::domain::transfer::TransferKind;
use crate::store::{invoice_steps, invoices, ledger, payments, quotes, transfers};
use serde_json::json;
use std::sync::Arc;

/// Refunds of one invoice that a timeline shows at most.
const REFUNDS_MAX: u32 = 1000;

/// Which page of invoices is looked for.
#[derive(Clone, Debug)]
pub struct Search {
    /// Only of this status.
    pub status: Option<InvoiceStatus>,
    /// Only in this currency.
    pub currency: Option<Currency>,
    /// Only made at this moment or later.
    pub from: Option<Time>,
    /// Only made before this moment.
    pub to: Option<Time>,
    /// Only with this text somewhere.
    pub text: Option<String>,
    /// Only older than the invoice with this id.
    pub before: Option<String>,
    /// How many at most.
    pub limit: u32,
}

impl Service {
    /// A page of the invoices that fit, newest first. May read many: for a thread that may wait.
    ///
    /// # Errors
    /// `invalid_request` where `before` names none of the caller's invoices.
    pub fn search_invoices(&self, caller: &Caller, search: &Search) -> Result<Page, Error> {
        self.read(|db| {
            let before = match &search.before {
                None => i64::MAX,
                Some(id) => owned(db, caller, id).map_err(|_| unknown_before())?.seq,
            };
            let wanted = invoices::Search {
                status: search.status,
                currency: search.currency,
                from: search.from,
                to: search.to,
                text: search.text.as_deref(),
                before,
                limit: search.limit.saturating_add(1),
            };
            let found = invoices::search(db, caller.account(), caller.mode(), &wanted)?;
            let rendered = found.into_iter().map(|invoice| {
                let json = render::invoice(&invoice, &self.links, &[])?;
                Ok((invoice.id, json))
            });
            Ok(Page::cut(
                rendered.collect::<Result<_, Error>>()?,
                search.limit,
            ))
        })
    }

    /// An invoice with all that is known of it.
    ///
    /// # Errors
    /// `not_found` where it is not the caller's.
    pub fn invoice_detail(&self, caller: &Caller, id: &str) -> Result<Json, Error> {
        self.read(|db| {
            let invoice = owned(db, caller, id)?;
            let (quotes, payments) = (
                quotes::of_invoice(db, invoice.seq)?,
                payments::of_invoice(db, invoice.seq)?,
            );
            let judged: Vec<Judged> = payments.iter().map(Judged::from).collect();
            let sums = Sums::of(&invoice.terms(), &judged);
            Ok(render::invoice_detail(
                &invoice,
                &quotes,
                &payments,
                sums,
                &self.links,
            )?)
        })
    }

    /// What happened to an invoice, oldest first.
    ///
    /// # Errors
    /// `not_found` where it is not the caller's.
    pub fn timeline(&self, caller: &Caller, id: &str, now: Time) -> Result<Vec<Json>, Error> {
        self.read(|db| {
            let invoice = owned(db, caller, id)?;
            let refunds = transfers::list(
                db,
                caller.account(),
                caller.mode(),
                TransferKind::Refund,
                Some(&invoice.id),
                REFUNDS_MAX,
            )?;
            let history = History {
                invoice: &invoice,
                quotes: &quotes::of_invoice(db, invoice.seq)?,
                payments: &payments::of_invoice(db, invoice.seq)?,
                steps: &invoice_steps::of_invoice(db, invoice.seq)?,
                booked: &ledger::of_invoice(db, invoice.seq)?,
                refunds: &refunds,
            };
            let entries = timeline(&history, now);
            entries
                .iter()
                .map(|entry| Ok(render::timeline_entry(entry)?))
                .collect()
        })
    }

    /// Calls an invoice off for somebody who is signed in.
    ///
    /// # Errors
    /// `not_found`, `invoice_not_cancellable`.
    pub async fn cancel_owned(
        self: &Arc<Self>,
        now: Time,
        caller: &Caller,
        actor: &str,
        id: &str,
    ) -> Result<Json, Error> {
        let (caller, actor, id) = (caller.clone(), actor.to_owned(), id.to_owned());
        self.write(move |service, tx| {
            let invoice = owned(tx, &caller, &id)?;
            let id = invoice.id.clone();
            let cancelled = service.cancel(tx, now, invoice)?;
            members::note(
                tx,
                &actor,
                "invoice.cancel",
                Some(caller.account()),
                Some(&id),
                &json!({}),
                now,
            )?;
            Ok(cancelled)
        })
        .await
    }
}
