//! `/sandbox/inbox`: shows received webhooks, and configures the answers of inboxes.

use crate::domain::fields::rule::{OrNull, integer};
use crate::domain::fields::{Component, input};
use crate::domain::time::parse_duration_ms;
use crate::domain::{EventType, Refusal, RefusalCode};
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Body, Handler, PLAIN, Resource, Route, RouteAnswer, Tag};
use crate::http::state::inbox::{Behaviour, Message};
use crate::http::state::sandbox::Sandbox;
use crate::render::sandbox::InboxMessage;
use crate::service::{Error, Json};
use hyper::StatusCode;
use serde_json::value::to_raw_value;
use std::sync::Arc;
use std::time::Duration;

const WAIT_MS_MAX: i64 = 60_000;

const DONE: &[RouteAnswer] = &[RouteAnswer::empty(204, "Done.")];

input! {
    /// Behaviour of an inbox from now on.
    pub(super) SandboxInboxBehaviour, checked status, delay_ms, times; unknown refused {
        /// HTTP status to answer; default 200.
        or(200) status: i64 = OrNull(integer(200..=599)), 500;
        /// Time to wait before the answer, in milliseconds; default 0.
        or(0) delay_ms: i64 = OrNull(integer(0..=60_000)), 0;
        /// Number of requests before the inbox answers 200 at once again; default: all.
        optional times: i64 = OrNull(integer(1..=1_000_000)), 1;
    }
}

const MESSAGES: Component = Component::List {
    name: "SandboxInbox",
    item: &Component::Inline(&InboxMessage::OBJECT),
    about: "Requests that an inbox received, oldest first.",
    about_data: "The requests received, oldest first.",
};

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "inboxReceive",
            tag: Some(Tag::SandboxInboxes),
            method: "POST",
            path: "/sandbox/inbox/{name}",
            summary: "Receives webhooks: point an endpoint here. Answers 200, or as configured.",
            answers: &[
                RouteAnswer::empty(200, "Received."),
                RouteAnswer::empty(0, "Configured status."),
            ],
            // The `Host` header of a webhook names the host in the endpoint's URL, which may be any host.
            takes_any_host: true,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(receive_message(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "inboxMessages",
            tag: Some(Tag::SandboxInboxes),
            path: "/sandbox/inbox/{name}",
            summary: "Lists the requests of an inbox, oldest first, and waits for the first match.",
            query: &[
                Param {
                    name: "type",
                    about: "Only events of this type.",
                    kind: ParamKind::OneOf(EventType::TEXTS),
                },
                Param {
                    name: "wait",
                    about: "Time to wait for the first match, like 5s; at most 60s.",
                    kind: ParamKind::Span,
                },
            ],
            answers: &[RouteAnswer::json(200, "The messages.", &MESSAGES)],
            handler: Handler::Sandbox(|call, sandbox| Box::pin(list_messages(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "inboxBehave",
            tag: Some(Tag::SandboxInboxes),
            method: "PUT",
            path: "/sandbox/inbox/{name}",
            summary: "Configures the answers of an inbox.",
            body: Body::required(&SandboxInboxBehaviour::COMPONENT),
            answers: DONE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(configure_inbox(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "inboxEmpty",
            tag: Some(Tag::SandboxInboxes),
            method: "DELETE",
            path: "/sandbox/inbox/{name}",
            summary: "Empties an inbox, which then answers 200 again.",
            answers: DONE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(clear_inbox(call, sandbox))),
            ..PLAIN
        },
    ],
};

async fn receive_message(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let message = Message::new(&call.headers, &call.body, call.now);
    let behaviour = sandbox.inboxes.receive(call.first_param(), message);
    let behaviour = behaviour
        .ok_or_else(|| Refusal::new(RefusalCode::Overloaded, "there are too many inboxes"))?;
    let delay = tokio::time::sleep(Duration::from_millis(behaviour.delay_ms));
    call.http.run_until_closed(delay).await;
    let status = StatusCode::from_u16(behaviour.status).unwrap_or(StatusCode::OK);
    Ok(Reply { status, ..Reply::no_content() })
}

async fn list_messages(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let wait_ms = call.query.text("wait").map(parse_duration_ms).transpose();
    let wait_ms = wait_ms.ok().filter(|wait_ms| wait_ms.unwrap_or(0) <= WAIT_MS_MAX);
    let wait_ms = wait_ms
        .ok_or_else(|| Refusal::field("wait", "must be a span of at most 60s, like \"5s\""))?;
    let inboxes = &sandbox.inboxes;
    let (name, kind) = (call.first_param(), call.query.text("type"));
    let mut arrivals = inboxes.arrivals();
    let first_match = async {
        while inboxes.messages(name, kind).is_empty() {
            if arrivals.changed().await.is_err() {
                return;
            }
        }
    };
    let wait = Duration::from_millis(u64::try_from(wait_ms.unwrap_or(0)).unwrap_or(0));
    // If no message arrives within the time limit, the answer is an empty list.
    let first_match = tokio::time::timeout(wait, first_match);
    call.http.run_until_closed(first_match).await;
    let found = inboxes.messages(name, kind);
    let data = found.iter().map(|message| Ok(to_raw_value(&message.view())?));
    Reply::list(&data.collect::<Result<Vec<Json>, Error>>()?)
}

async fn configure_inbox(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let input = SandboxInboxBehaviour::read(&call.body_fields()?)?;
    let behaviour = Behaviour {
        status: u16::try_from(input.status).unwrap_or(200),
        delay_ms: u64::try_from(input.delay_ms).unwrap_or(0),
        times: input.times.and_then(|times| u64::try_from(times).ok()),
    };
    sandbox.inboxes.configure(call.first_param(), behaviour);
    Ok(Reply::no_content())
}

async fn clear_inbox(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    sandbox.inboxes.clear_inbox(call.first_param());
    Ok(Reply::no_content())
}
