//! The rates of live mode in the operator interface.

use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::Error;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "getRates",
        tag: Some(Tag::OperatorService),
        path: "/dashboard/api/rates",
        summary: "Reads what each coin costs in live mode, how old that is, and what each source says; or why a coin has no rate.",
        answers: &[Answer::json(200, "The rates.", "Rates")],
        handler: Handler::Operator(|call, operator| Box::pin(read(call, operator))),
        ..PRIVATE
    }],
};

/// GET /dashboard/api/rates
async fn read(call: Call, _: Operator) -> Result<Reply, Error> {
    call.front.service.rates(call.now).map(Reply::ok)
}
