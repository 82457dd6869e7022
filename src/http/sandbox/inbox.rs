//! `/sandbox/inbox`: shows received webhooks, and configures the answers of inboxes.

use crate::domain::fields::rule::{OrNull, integer};
use crate::domain::fields::{Component, input};
use crate::domain::time::parse_duration_ms;
use crate::domain::{EventType, Refusal, RefusalCode};
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Body, Handler, PLAIN, Resource, Route, RouteAnswer, Tag};
use crate::http::state::inbox::{Behaviour, Message, MessageFilter};
use crate::http::state::sandbox::Sandbox;
use crate::render::sandbox::InboxMessage;
use crate::service::{Error, Json};
use hyper::StatusCode;
use serde_json::value::to_raw_value;
use std::sync::Arc;
use std::time::Duration;

/// Largest number of matches to wait for.
const COUNT_MAX: u32 = 10_000;
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
            summary: "Lists the requests of an inbox, oldest first, and waits for matches.",
            query: &[
                Param {
                    name: "type",
                    about: "Only events of this type.",
                    kind: ParamKind::OneOf(EventType::TEXTS),
                },
                Param {
                    name: "object",
                    about: "Only events about the object with this id.",
                    kind: ParamKind::Id,
                },
                Param {
                    name: "orderId",
                    about: "Only events whose object has this orderId.",
                    kind: ParamKind::Text { chars_max: 200 },
                },
                Param {
                    name: "after",
                    about: "Only requests that came after this event, which the inbox has: evt_ and its id.",
                    kind: ParamKind::Id,
                },
                Param {
                    name: "count",
                    about: "Number of matches to wait for; default 1. Later matches are listed too.",
                    kind: ParamKind::Limit { max: COUNT_MAX, default: 1 },
                },
                Param {
                    name: "wait",
                    about: "Time to wait for the matches, like 5s; at most 60s. Then those that are there are listed.",
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
    let name = call.first_param();
    let filter = MessageFilter {
        kind: call.query.text("type"),
        object: call.query.text("object"),
        order_id: call.query.text("orderId"),
        after: call.query.text("after"),
    };
    let matches = || {
        let found = inboxes.messages(name, &filter);
        found
            .ok_or_else(|| Refusal::field("after", "must be an event that this inbox has received"))
    };
    let count = usize::try_from(call.query.number("count", 1)).unwrap_or(usize::MAX);
    let mut arrivals = inboxes.arrivals();
    let all_matches = async {
        while matches().is_ok_and(|found| found.len() < count) {
            if arrivals.changed().await.is_err() {
                return;
            }
        }
    };
    let wait = Duration::from_millis(u64::try_from(wait_ms.unwrap_or(0)).unwrap_or(0));
    // After the time limit, the answer has those that have arrived.
    call.http.run_until_closed(tokio::time::timeout(wait, all_matches)).await;
    let found = matches()?;
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
