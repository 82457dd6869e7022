//! Deliveries in the operator interface: listing, and sending again.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;
use crate::service::delivery_desk::DeliveriesWanted;
use hyper::StatusCode;
use serde_json::json;
use std::sync::Arc;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 50;

/// GET /dashboard/api/accounts/{account}/deliveries
pub(in crate::http) async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let wanted = DeliveriesWanted {
        endpoint: call.query.text("endpoint").map(str::to_owned),
        state: call.query.choice("state")?,
        event: call.query.text("event").map(str::to_owned),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    let service = Arc::clone(&call.front.service);
    let read = move || service.account_deliveries(&scope, &wanted);
    Reply::page(&call.long_read(&member, read).await?)
}

/// POST /dashboard/api/accounts/{account}/deliveries/{id}/resend
pub(in crate::http) async fn resend(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    service
        .resend(call.now, &scope, actor, call.second())
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/accounts/{account}/resend
pub(in crate::http) async fn resend_since(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    let count = service.resend_since(call.now, &scope, actor, &body).await?;
    Ok(Reply::json(
        StatusCode::OK,
        json!({ "count": count }).to_string(),
    ))
}
