//! Pools of imported addresses in the operator interface.

use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Body, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::Error;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listPools",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/pools",
            summary: "Lists the pools of imported addresses, with how many are free.",
            answers: &[Answer::json(200, "The pools.", "PoolList")],
            handler: Handler::Operator(|call, operator| Box::pin(list(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "importAddresses",
            tag: Some(Tag::OperatorService),
            method: "POST",
            path: "/dashboard/api/pools/{pool}/addresses",
            summary: "Adds live addresses to a pool; all of them, or none where one is wrong. Known ones are counted, not doubled.",
            body: Some(Body::required("ImportAddresses")),
            answers: &[Answer::json(200, "What was added.", "PoolImport")],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(import(call, operator))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/pools
async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    Reply::list(&call.front.service.pools()?)
}

/// POST /dashboard/api/pools/{pool}/addresses
async fn import(call: Call, operator: Operator) -> Result<Reply, Error> {
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
