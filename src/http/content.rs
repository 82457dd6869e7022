//! Successful answers of operations, as the OpenAPI documents describe them.

use super::reply::status;
use crate::api::operation;
use crate::domain::fields::Component;

/// A successful answer of a route, as the OpenAPI documents describe it.
#[derive(Clone, Copy)]
pub(super) struct RouteAnswer {
    /// HTTP status, 0 for the OpenAPI response `default`.
    pub(super) status: u16,
    /// Description in the OpenAPI documents.
    pub(super) about: &'static str,
    pub(super) content: Content,
}

impl RouteAnswer {
    pub(super) fn from_declared(declared: &operation::Answer) -> RouteAnswer {
        RouteAnswer {
            status: status(declared.success).as_u16(),
            about: declared.about,
            content: declared.component.map_or(Content::Empty, Content::Component),
        }
    }

    pub(super) const fn json(
        status: u16,
        about: &'static str,
        component: &'static Component,
    ) -> RouteAnswer {
        RouteAnswer { status, about, content: Content::Component(component) }
    }

    pub(super) const fn empty(status: u16, about: &'static str) -> RouteAnswer {
        RouteAnswer { status, about, content: Content::Empty }
    }
}

/// Kind of body of a successful answer.
#[derive(Clone, Copy)]
pub(super) enum Content {
    Component(&'static Component),
    /// A JSON object without a schema.
    AnyJson,
    Text,
    Csv,
    /// A stream of events whose data is JSON of this schema.
    Events(&'static Component),
    Empty,
}

impl Content {
    /// Returns the media type, `None` for an answer without a body.
    pub(super) const fn media_type(self) -> Option<&'static str> {
        match self {
            Content::Component(_) | Content::AnyJson => Some("application/json"),
            Content::Text => Some("text/plain"),
            Content::Csv => Some("text/csv"),
            Content::Events(_) => Some("text/event-stream"),
            Content::Empty => None,
        }
    }
}
