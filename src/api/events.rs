//! Events of a shop: `/v1/events`.

use super::operation::{
    Answer, Context, Job, Operation, OperationFn, Outcome, OutcomeBody, PLAIN, Success,
};
use super::params::BEFORE_ID;
use super::query::{Param, ParamKind, Query};
use super::tag::Tag;
use crate::domain::EventType;
use crate::domain::fields::Component;
use crate::render::event::{EVENT_ID, EventView};
use crate::service::events::EventListQuery;
use crate::service::{Caller, Error};
use std::sync::Arc;

const LIMIT_DEFAULT: u32 = 50;

pub const LIMIT: Param = Param::limit(200, LIMIT_DEFAULT);

pub const TYPE: Param = Param {
    name: "type",
    about: "Only events of this type.",
    kind: ParamKind::OneOf(EventType::TEXTS),
};

pub const OBJECT: Param =
    Param { name: "object", about: "Only events of the object with this id.", kind: ParamKind::Id };

pub const EVENT_PAGE: Component = Component::Exemplified {
    component: &Component::Page {
        name: "EventPage",
        item: &EventView::COMPONENT,
        about: [
            "One page of the account's events in the key's mode, newest first.",
            "The events of this page, newest first.",
            "Whether older events follow.",
            "Value of `before` for the next page; null on the last page.",
        ],
        before: &EVENT_ID,
    },
    differs: r#"{ "hasMore": true, "nextBefore": "evt_01a1fd720c907ef7bc13a38180936ffa" }"#,
};

pub const OPERATIONS: [&Operation; 2] = [&LIST, &GET];

const LIST: Operation = Operation {
    id: "listEvents",
    path: "/v1/events",
    tag: Tag::Events,
    summary: "Returns a page of events, newest first, as webhooks deliver them.",
    query: &[LIMIT, BEFORE_ID, TYPE, OBJECT],
    answers: &[Answer::ok("A page of events.", &EVENT_PAGE)],
    run: OperationFn::Secret(list),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getEvent",
    path: "/v1/events/{id}",
    tag: Tag::Events,
    summary: "Returns an event.",
    answers: &[Answer::ok("The event.", &EventView::COMPONENT)],
    run: OperationFn::Secret(get),
    ..PLAIN
};

/// Reads the query parameters that select a page of events.
///
/// # Errors
/// `invalid_request` for an invalid value, which a parsed query does not contain.
pub fn event_query(query: &Query) -> Result<EventListQuery, Error> {
    Ok(EventListQuery {
        before: query.text("before").map(str::to_owned),
        kind: query.enum_value("type")?,
        object: query.text("object").map(str::to_owned),
        limit: query.limit(LIMIT_DEFAULT),
    })
}

fn list(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let page = context.service.events(caller, &event_query(context.query)?)?;
    Ok(Job::Done(Outcome::from_page(page)))
}

fn get(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let event = context.service.event(caller, context.first_param())?;
    Ok(Job::Done(Outcome { success: Success::Ok, body: OutcomeBody::Stored(event) }))
}
