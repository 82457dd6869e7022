//! The JSON of deliveries: the operator interface's, and the sandbox's, which leaves out what it has elsewhere.
//!
//! What lives here: which fields they have, in their order. What does not: where these come from. What always holds:
//! both interfaces write a field that they share alike.

use crate::domain::event::{DeliveryState, EventType};
use crate::domain::time::Time;
use serde::Serialize;
use std::collections::BTreeMap;

/// A delivery with its attempts, oldest first.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryView<'a> {
    pub(crate) id: &'a str,
    pub(crate) event: &'a str,
    #[serde(rename = "type")]
    pub(crate) kind: EventType,
    /// What the event is about; not in the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object_id: Option<&'a str>,
    pub(crate) endpoint: Option<&'a str>,
    pub(crate) url: &'a str,
    pub(crate) state: DeliveryState,
    pub(crate) next_attempt_at: Option<Time>,
    /// When the event happened; not in the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<Time>,
    pub(crate) attempts: Vec<AttemptView<'a>>,
    /// What is sent, byte for byte, where one is read by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<&'a str>,
}

/// An attempt that is over.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttemptView<'a> {
    /// Which attempt of the delivery it was, from 1; not in the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<u32>,
    pub(crate) at: Time,
    pub(crate) status: Option<u16>,
    pub(crate) latency_ms: i64,
    pub(crate) error: Option<&'a str>,
    pub(crate) answer: Option<&'a str>,
    /// What was sent besides the body, where one delivery is read by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) headers: Option<BTreeMap<&'static str, String>>,
}

/// How many deliveries are sent again.
#[derive(Serialize)]
pub(crate) struct Resent {
    pub(crate) count: u64,
}
