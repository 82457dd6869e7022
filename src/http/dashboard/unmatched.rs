//! Payments that matched nothing in the operator interface.

use crate::domain::customer::REF_CHARS_MAX;
use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::domain::unmatched::NOTE_CHARS_MAX;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::{Call, ID_CHARS_MAX};
use crate::service::Error;
use crate::service::intake::assign::Assignee;
use crate::service::unmatched::{Looked, Wanted};

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 50;

/// GET /dashboard/api/unmatched-payments
pub(in crate::http) async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    let wanted = Wanted {
        looked: call.query.choice("status")?.unwrap_or(Looked::All),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    Reply::page(&call.front.service.unmatched_payments(&wanted)?)
}

/// POST /dashboard/api/unmatched-payments/{id}
pub(in crate::http) async fn resolve(call: Call, operator: Operator) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["note"])?;
    let note = fields.text("note", 1..=NOTE_CHARS_MAX)?;
    let note = note.ok_or_else(|| Refusal::field("note", "must be given"))?;
    let id = call.uuid("unmatched payment")?;
    call.front
        .service
        .resolve_unmatched(call.now, &operator, &id, note.to_owned())
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/unmatched-payments/{id}/assign
pub(in crate::http) async fn assign(call: Call, operator: Operator) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["invoice", "account", "customer"])?;
    let invoice = fields.text("invoice", 1..=ID_CHARS_MAX)?;
    let account = fields.text("account", 1..=ID_CHARS_MAX)?;
    let customer = fields.text("customer", 1..=REF_CHARS_MAX)?;
    let to = match (invoice, account, customer) {
        (Some(invoice), None, None) => Assignee::Invoice(invoice.to_owned()),
        (None, Some(account), Some(customer)) => {
            Assignee::Customer(account.to_owned(), customer.to_owned())
        }
        (None, Some(_), None) => {
            return Err(Refusal::field("customer", "must be given with account").into());
        }
        (None, None, Some(_)) => {
            return Err(Refusal::field("account", "must be given with customer").into());
        }
        (None, None, None) | (Some(_), _, _) => {
            let problem = "must be given, or account and customer in its place";
            return Err(Refusal::field("invoice", problem).into());
        }
    };
    let id = call.uuid("unmatched payment")?;
    call.front
        .service
        .assign_unmatched(call.now, &operator, &id, to)
        .await
        .map(Reply::ok)
}
