//! Answers of operations that are no refusals, as the documents describe them.

use super::reply::status;
use crate::api::operation;
use crate::domain::fields::Component;

/// An answer that is no refusal.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    /// The status.
    pub(super) status: u16,
    /// What it means.
    pub(super) about: &'static str,
    /// What is in it.
    pub(super) content: Content,
}

impl Answer {
    /// Returns the answer of a declared operation.
    pub(super) fn of(declared: &operation::Answer) -> Answer {
        Answer {
            status: status(declared.success).as_u16(),
            about: declared.about,
            content: declared
                .component
                .map_or(Content::Empty, Content::Component),
        }
    }

    /// Returns an answer with a resource or a list of this schema.
    pub(super) const fn shown(
        status: u16,
        about: &'static str,
        component: &'static Component,
    ) -> Answer {
        Answer {
            status,
            about,
            content: Content::Component(component),
        }
    }

    /// Nothing but the status.
    pub(super) const fn empty(status: u16, about: &'static str) -> Answer {
        Answer {
            status,
            about,
            content: Content::Empty,
        }
    }
}

/// What an answer holds.
#[derive(Clone, Copy)]
pub(super) enum Content {
    /// JSON of this schema.
    Component(&'static Component),
    /// A JSON object that no schema describes.
    AnyJson,
    /// Plain text.
    Text,
    /// CSV.
    Csv,
    /// A stream of events whose data is JSON of this schema.
    Events(&'static Component),
    /// Nothing.
    Empty,
}
