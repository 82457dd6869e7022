//! Payment links in the operator interface.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;
use hyper::StatusCode;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 50;

/// POST /dashboard/api/accounts/{account}/payment-links
pub(in crate::http) async fn create(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    let link = service.create_link(call.now, &scope, actor, body).await?;
    Ok(Reply {
        status: StatusCode::CREATED,
        ..Reply::ok(link)
    })
}

/// GET /dashboard/api/accounts/{account}/payment-links
pub(in crate::http) async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    let (before, limit) = (call.query.text("before"), call.query.limit(LIMIT_DEFAULT));
    let service = &call.front.service;
    Reply::page(&service.links(&call.scope(&member)?, before, limit)?)
}

/// GET /dashboard/api/accounts/{account}/payment-links/{id}
pub(in crate::http) async fn get(call: Call, member: Member) -> Result<Reply, Error> {
    let service = &call.front.service;
    service
        .link(&call.scope(&member)?, id(&call))
        .map(Reply::ok)
}

/// PATCH /dashboard/api/accounts/{account}/payment-links/{id}
pub(in crate::http) async fn change(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    service
        .change_link(call.now, &scope, actor, id(&call), body)
        .await
        .map(Reply::ok)
}

/// The link that the path names after its account.
fn id(call: &Call) -> &str {
    call.path.get(1).map_or("", String::as_str)
}
