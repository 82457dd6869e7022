//! Every delivery of a sandbox, page by page.
//!
//! What always holds: a page is in the order of the events, and it is the newest that fit.

use crate::http::front::sandbox::Sandbox;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Handler, PLAIN, Resource, Route, Tag};
use crate::service::Error;
use std::sync::Arc;

/// How many deliveries a page has at most, and where no `limit` is given.
const LIMIT_MAX: u32 = 500;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "sandboxWebhooks",
        tag: Some(Tag::SandboxInboxes),
        path: "/sandbox/webhooks",
        summary: "Lists the newest deliveries with their attempts, in the order of their events.",
        query: &[
            Param::limit(LIMIT_MAX, LIMIT_MAX),
            Param {
                name: "before",
                about: "Only those that are older than this one: nextBefore of the page before.",
                kind: ParamKind::Any,
            },
        ],
        answers: &[Answer::json(
            200,
            "A page of deliveries.",
            "SandboxWebhooks",
        )],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(list(call, sandbox))),
        ..PLAIN
    }],
};

/// GET /sandbox/webhooks
async fn list(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    let (before, limit) = (call.query.text("before"), call.query.limit(LIMIT_MAX));
    Reply::page(&call.front.service.deliveries(before, limit)?)
}
