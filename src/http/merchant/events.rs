//! `/v1/events`.

use crate::api::params::BEFORE_ID;
use crate::domain::event::EventType;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::events::Wanted;
use crate::service::{Caller, Error};
use hyper::StatusCode;
use std::sync::Arc;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 50;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listEvents",
            tag: Some(Tag::Events),
            path: "/v1/events",
            summary: "Pages through the events, newest first, in the bodies of their webhooks.",
            query: &[
                Param::limit(200, LIMIT_DEFAULT),
                BEFORE_ID,
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
            ],
            answers: &[Answer::json(200, "A page of events.", "EventPage")],
            handler: Handler::Secret(|call, caller| Box::pin(list(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "getEvent",
            tag: Some(Tag::Events),
            path: "/v1/events/{id}",
            summary: "Reads an event.",
            answers: &[Answer::json(200, "The event.", "Event")],
            handler: Handler::Secret(|call, caller| Box::pin(get(call, caller))),
            ..PRIVATE
        },
    ],
};

/// GET /v1/events
async fn list(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let wanted = wanted(&call)?;
    Reply::page(&call.front.service.events(&caller, &wanted)?)
}

/// Which page of events a query asks for.
pub(in crate::http) fn wanted(call: &Call) -> Result<Wanted, Error> {
    Ok(Wanted {
        before: call.query.text("before").map(str::to_owned),
        kind: call.query.choice("type")?,
        object: call.query.text("object").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    })
}

/// GET /v1/events/{id}
async fn get(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let body = call.front.service.event(&caller, call.id())?;
    Ok(Reply::json(StatusCode::OK, body))
}
