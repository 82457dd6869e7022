//! The reseller interface, `/reseller/…`: servers are ordered, read and given up.

use super::reply::Reply;
use super::request::{Call, idempotency_key};
use crate::http::auth::Reseller;
use crate::service::Error;
use crate::service::reseller::Discarded;
use hyper::StatusCode;

/// `limit` where none is given.
pub(super) const LIMIT_DEFAULT: u32 = 25;

/// POST /reseller/servers
pub(super) async fn order(call: Call, reseller: Reseller) -> Result<Reply, Error> {
    let body = call.object()?;
    let client_key = idempotency_key(&call.headers)?;
    let service = &call.front.service;
    let json = service
        .order_server(call.now, &reseller, body, client_key)
        .await?;
    Ok(Reply::json(StatusCode::CREATED, json))
}

/// GET /reseller/servers
pub(super) async fn list(call: Call, reseller: Reseller) -> Result<Reply, Error> {
    let limit = call.query.limit(LIMIT_DEFAULT);
    Reply::list(&call.front.service.servers(&reseller, limit)?)
}

/// GET /reseller/servers/{id}
pub(super) async fn get(call: Call, reseller: Reseller) -> Result<Reply, Error> {
    let id = call.uuid("server")?;
    call.front.service.server(&reseller, &id).map(Reply::ok)
}

/// DELETE /reseller/servers/{id}
pub(super) async fn discard(call: Call, reseller: Reseller) -> Result<Reply, Error> {
    let id = call.uuid("server")?;
    let service = &call.front.service;
    let (discarded, json) = service.discard_server(call.now, &reseller, &id).await?;
    let status = match discarded {
        Discarded::Gone => StatusCode::OK,
        Discarded::Later => StatusCode::ACCEPTED,
    };
    Ok(Reply::json(status, Box::<str>::from(json).into_string()))
}
