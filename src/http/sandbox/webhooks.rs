//! Every delivery of a sandbox, page by page.
//!
//! What always holds: a page is in the order of the events, and it is the newest that fit.

use crate::http::front::sandbox::Sandbox;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Handler, PLAIN, Resource, Route, Tag};
use crate::service::events::Page;
use crate::service::webhooks::Attempt;
use crate::service::{Error, Json};
use serde_json::json;
use serde_json::value::to_raw_value;
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
    components: include_str!("webhooks.json"),
};

/// GET /sandbox/webhooks
async fn list(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    let attempt = |attempt: &Attempt| {
        let Attempt {
            at,
            status,
            latency_ms,
            error,
            answer,
        } = attempt;
        json!({ "at": at, "status": status, "latencyMs": latency_ms, "error": error, "answer": answer })
    };
    let (before, limit) = (call.query.text("before"), call.query.limit(LIMIT_MAX));
    let (rows, more) = call.front.service.deliveries(before, limit)?;
    let data = rows.iter().map(|(row, attempts)| {
        Ok(to_raw_value(&json!({
            "id": row.id, "event": row.event, "type": row.kind, "endpoint": row.endpoint, "url": row.url,
            "state": row.state, "nextAttemptAt": row.next_attempt_at,
            "attempts": attempts.iter().map(attempt).collect::<Vec<_>>(),
        }))?)
    });
    let oldest = rows.first().filter(|_| more);
    Reply::page(&Page {
        data: data.collect::<Result<Vec<Json>, Error>>()?,
        next_before: oldest.map(|(row, _)| row.id.clone()),
    })
}
