//! `/v1/public/checkouts/{id}/events`: streams the changes of an invoice to its checkout page.
//!
//! Invariant: a page that reconnects receives one event if the invoice has changed since the page's last event, else
//! none.

use super::event_stream::{EventSource, event, reply};
use super::reply::Reply;
use super::request::{Call, Param, ParamKind};
use super::route::{Content, Handler, Resource, Route, RouteAnswer, SHARED, Tag};
use super::state::HttpState;
use super::subscribers::Subscription;
use crate::domain::RefusalCode;
use crate::render::CheckoutEventView;
use crate::service::Error;
use std::sync::Arc;

/// Header in which a reconnecting browser sends the id of its last event.
const LAST_EVENT_ID: &str = "last-event-id";

pub(super) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "streamCheckout",
        tag: Some(Tag::Public),
        path: "/v1/public/checkouts/{id}/events",
        summary: "Streams the changes of an invoice to its checkout, until either side ends the stream.",
        query: &[
            Param {
                name: "token",
                about: "Token of the invoice's checkout, from `checkoutUrl`.",
                kind: ParamKind::Any,
            },
            Param {
                name: "since",
                about: "Id of the last event, or `data-version` of the page. Without it and without Last-Event-ID, the stream begins with the present state.",
                kind: ParamKind::Any,
            },
        ],
        answers: &[RouteAnswer {
            status: 200,
            about: "Events named `invoice`. Equal ids have equal data.",
            content: Content::Events(&CheckoutEventView::COMPONENT),
        }],
        refusals: &[RefusalCode::NotFound],
        handler: Handler::Open(|call| Box::pin(stream(call))),
        ..SHARED
    }],
};

struct CheckoutEvents {
    http: Arc<HttpState>,
    subscription: Subscription,
    id: String,
    token: String,
    /// Version of the invoice's state that the page received last.
    sent_version: String,
    /// `true` if the invoice's state may have changed since `sent_version`.
    is_stale: bool,
}

async fn stream(call: Call) -> Result<Reply, Error> {
    let token = call.query.text("token").unwrap_or_default();
    let resumed = call.headers.get(LAST_EVENT_ID);
    let resumed = resumed.and_then(|version| version.to_str().ok());
    let told = resumed.or(call.query.text("since")).unwrap_or_default();
    let service = &call.http.service;
    let known = service.checkout_state(call.first_param(), token)?;
    let events = CheckoutEvents {
        http: Arc::clone(&call.http),
        subscription: call.http.subscribers.subscribe(&known.invoice),
        id: known.invoice,
        token: token.to_owned(),
        sent_version: told.to_owned(),
        is_stale: true,
    };
    Ok(reply(&call.http, events))
}

impl EventSource for CheckoutEvents {
    async fn next(&mut self) -> Option<String> {
        loop {
            if !self.is_stale {
                self.subscription.changed().await;
            }
            let state = self.http.service.checkout_state(&self.id, &self.token);
            let state =
                state.inspect_err(|error| log::debug!("checkout stream ended: error={error}"));
            let state = state.ok()?;
            self.is_stale = false;
            if state.version != self.sent_version {
                let text = event("invoice", &state.version, state.json.get());
                self.sent_version = state.version;
                return Some(text);
            }
        }
    }
}
