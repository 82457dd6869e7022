//! The JSON of what a sandbox tells of as it happens.
//!
//! What lives here: which fields each kind has, in their order. What does not: what is kept (`service::activity`). What
//! always holds: each says by its `kind` what it is.

use crate::domain::time::Time;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One thing that happened.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Told<'a> {
    /// A call was answered.
    Call(Call<'a>),
    /// An event was recorded.
    Event {
        /// The event, as its GET answers it.
        event: &'a RawValue,
    },
    /// An attempt to deliver was made.
    Delivery(Delivery<'a>),
    /// What happened between is not kept any more.
    Missed {
        /// How many.
        count: u64,
    },
}

impl Told<'_> {
    /// What kind of thing it is.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Told::Call(_) => "call",
            Told::Event { .. } => "event",
            Told::Delivery(_) => "delivery",
            Told::Missed { .. } => "missed",
        }
    }
}

/// A call and its answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) at: Time,
    pub(crate) method: &'a str,
    pub(crate) target: Cow<'a, str>,
    pub(crate) operation: Option<&'static str>,
    pub(crate) status: u16,
    pub(crate) ms: i64,
    pub(crate) key: Option<&'a str>,
    pub(crate) sent: Part<'a>,
    pub(crate) answered: Part<'a>,
}

/// An attempt to deliver.
#[derive(Serialize)]
pub(crate) struct Delivery<'a> {
    pub(crate) delivery: &'a str,
    pub(crate) event: &'a str,
    pub(crate) number: u32,
    pub(crate) url: &'a str,
    pub(crate) headers: BTreeMap<&'a str, &'a str>,
    pub(crate) sent: Part<'a>,
    pub(crate) at: Time,
    pub(crate) status: Option<u16>,
    pub(crate) ms: i64,
    pub(crate) error: Option<&'a str>,
    pub(crate) answer: Option<Cow<'a, str>>,
}

/// A body, or its beginning.
#[derive(Serialize)]
pub(crate) struct Part<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) cut: bool,
}
