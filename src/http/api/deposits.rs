//! `/v1/deposits`.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Caller;
use crate::service::Error;
use crate::service::deposits::Wanted;
use std::sync::Arc;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 25;

/// GET /v1/deposits
pub(in crate::http) async fn list(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let wanted = Wanted {
        customer: call.query.text("customer").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    Reply::list(&call.front.service.deposits(&caller, &wanted)?)
}

/// GET /v1/deposits/{id}
pub(in crate::http) async fn get(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let id = call.uuid("deposit")?;
    call.front.service.deposit(&caller, &id).map(Reply::ok)
}
