//! Invoices in the operator interface: searching, reading, the timeline, calling off.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;
use crate::service::invoice_desk::Search;
use std::sync::Arc;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 50;

/// GET /dashboard/api/accounts/{account}/invoices
pub(in crate::http) async fn search(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let search = Search {
        status: call.query.choice("status")?,
        currency: call.query.choice("currency")?,
        from: call.query.moment("from")?,
        to: call.query.moment("to")?,
        text: call.query.text("text").map(str::to_owned),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    let service = Arc::clone(&call.front.service);
    let read = move || service.search_invoices(&scope, &search);
    Reply::page(&call.long_read(&member, read).await?)
}

/// GET /dashboard/api/accounts/{account}/invoices/{id}
pub(in crate::http) async fn get(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let detail = call.front.service.invoice_detail(&scope, call.second())?;
    Ok(Reply::ok(detail))
}

/// GET /dashboard/api/accounts/{account}/invoices/{id}/timeline
pub(in crate::http) async fn timeline(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let service = &call.front.service;
    Reply::list(&service.timeline(&scope, call.second(), call.now)?)
}

/// POST /dashboard/api/accounts/{account}/invoices/{id}/cancel
pub(in crate::http) async fn cancel(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    service
        .cancel_owned(call.now, &scope, actor, call.second())
        .await
        .map(Reply::ok)
}
