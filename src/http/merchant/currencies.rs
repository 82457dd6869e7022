//! `/v1/currencies`.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::{Caller, Error};
use std::sync::Arc;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "listCurrencies",
        tag: Some(Tag::Account),
        path: "/v1/currencies",
        summary: "Lists every coin on offer with its minimum.",
        answers: &[Answer::json(200, "The coins.", "CurrencyList")],
        handler: Handler::Secret(|call, caller| Box::pin(currencies(call, caller))),
        ..PRIVATE
    }],
};

/// GET /v1/currencies
async fn currencies(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    Reply::list(&call.front.service.currencies(call.now, &caller)?)
}
