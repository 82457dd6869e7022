//! `/v1/events`.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Caller;
use crate::service::Error;
use crate::service::events::Wanted;
use hyper::StatusCode;
use std::sync::Arc;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 50;

/// GET /v1/events
pub(in crate::http) async fn list(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let wanted = wanted(&call)?;
    Reply::page(&call.front.service.events(&caller, &wanted)?)
}

/// Which page of events a query asks for.
pub(in crate::http) fn wanted(call: &Call) -> Result<Wanted, Error> {
    Ok(Wanted {
        before: call.query.text("before").map(str::to_owned),
        kind: call.query.choice("type")?,
        object: call.query.text("object").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    })
}

/// GET /v1/events/{id}
pub(in crate::http) async fn get(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let body = call.front.service.event(&caller, call.id())?;
    Ok(Reply::json(StatusCode::OK, body))
}
