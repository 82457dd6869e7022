//! Finds invoices by the ids in requests.

use super::{Error, Scope};
use crate::domain::{Invoice, Refusal, id};
use crate::store::{Reader, invoices};

/// Returns the invoice with this ID, of any account and in either mode.
pub(super) fn find_invoice(db: &Reader<'_>, id: &str) -> Result<Invoice, Error> {
    let id = id::parse(id);
    let invoice = id.map(|id| invoices::by_id(db, &id)).transpose()?.flatten();
    invoice.ok_or_else(|| Refusal::not_found("invoice").into())
}

pub(super) fn owned_invoice(db: &Reader<'_>, scope: &Scope, id: &str) -> Result<Invoice, Error> {
    let invoice = find_invoice(db, id)?;
    if invoice.account != scope.account() || invoice.mode != scope.mode() {
        return Err(Refusal::not_found("invoice").into());
    }
    Ok(invoice)
}
