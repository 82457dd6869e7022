//! The chains that are followed, in the operator interface.

use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::Error;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "listChains",
        tag: Some(Tag::OperatorService),
        path: "/dashboard/api/chains",
        summary: "Lists the chains that have a node: how far each has been read, and what is wrong.",
        answers: &[Answer::json(200, "The chains.", "ChainList")],
        handler: Handler::Operator(|call, operator| Box::pin(list(call, operator))),
        ..PRIVATE
    }],
    components: include_str!("chains.json"),
};

/// GET /dashboard/api/chains
async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    Reply::list(&call.front.service.chains_shown(call.now)?)
}
