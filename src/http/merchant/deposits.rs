//! `/v1/deposits`.

use crate::domain::customer::REF_CHARS_MAX;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::deposits::Wanted;
use crate::service::{Caller, Error, Scope};
use std::sync::Arc;

/// `limit` where none is given.
const LIMIT_DEFAULT: u32 = 25;

/// How many deposits are asked for at most.
pub(in crate::http) const LIMIT: Param = Param::limit(100, LIMIT_DEFAULT);

/// Whose deposits are asked for.
pub(in crate::http) const CUSTOMER: Param = Param {
    name: "customer",
    about: "Only deposits of the customer with this reference.",
    kind: ParamKind::Text {
        chars_max: REF_CHARS_MAX,
    },
};

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listDeposits",
            tag: Some(Tag::Customers),
            path: "/v1/deposits",
            summary: "Lists deposits, newest first.",
            query: &[LIMIT, CUSTOMER],
            answers: &[Answer::json(200, "The deposits.", "DepositList")],
            handler: Handler::Secret(|call, caller| Box::pin(list(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "getDeposit",
            tag: Some(Tag::Customers),
            path: "/v1/deposits/{id}",
            summary: "Reads a deposit.",
            answers: &[Answer::json(200, "The deposit.", "Deposit")],
            handler: Handler::Secret(|call, caller| Box::pin(get(call, caller))),
            ..PRIVATE
        },
    ],
};

/// GET /v1/deposits
async fn list(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    listed(&call, &caller)
}

/// The deposits of an account in a mode that are asked for.
pub(in crate::http) fn listed(call: &Call, scope: &Scope) -> Result<Reply, Error> {
    let wanted = Wanted {
        customer: call.query.text("customer").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    Reply::list(&call.front.service.deposits(scope, &wanted)?)
}

/// GET /v1/deposits/{id}
async fn get(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let id = call.uuid("deposit")?;
    call.front.service.deposit(&caller, &id).map(Reply::ok)
}
