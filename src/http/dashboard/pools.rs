//! Pools of imported addresses in the operator interface.

use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;

/// GET /dashboard/api/pools
pub(in crate::http) async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    Reply::list(&call.front.service.pools()?)
}

/// POST /dashboard/api/pools/{pool}/addresses
pub(in crate::http) async fn import(call: Call, operator: Operator) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["addresses"])?;
    let addresses = fields
        .list("addresses")?
        .ok_or_else(|| Refusal::field("addresses", "must be given: a list of addresses"))?;
    call.front
        .service
        .import_addresses(call.now, &operator, call.id(), addresses)
        .await
        .map(Reply::ok)
}
