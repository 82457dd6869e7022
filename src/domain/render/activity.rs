//! JSON of what happens in a sandbox: calls, events, attempts to deliver.

use crate::domain::fields::{Component, Schema, schema, view};
use crate::domain::time::Time;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Something that happened in a sandbox.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ActivityView<'a> {
    Call(CallView<'a>),
    Event(EventActivityView<'a>),
    Delivery(AttemptView<'a>),
    Missed(MissedView),
}

impl<'a> ActivityView<'a> {
    /// Component of the documents.
    pub(crate) const COMPONENT: Component = Component::OneOf {
        name: "SandboxActivity",
        about: "One thing that happened in the sandbox: a call, an event, an attempt to deliver; or that some are missing.",
        choices: &[
            &Component::Inline(&CallView::OBJECT),
            &Component::Inline(&EventActivityView::OBJECT),
            &Component::Inline(&AttemptView::OBJECT),
            &Component::Inline(&MissedView::OBJECT),
        ],
    };

    /// Returns an event that was recorded, of which this is the JSON.
    pub(crate) fn event(event: &'a RawValue) -> ActivityView<'a> {
        ActivityView::Event(EventActivityView {
            kind: "event",
            event,
        })
    }

    /// Returns the news that this many things are not kept any more.
    pub(crate) fn missed(count: u64) -> ActivityView<'a> {
        ActivityView::Missed(MissedView {
            kind: "missed",
            count,
        })
    }

    /// Returns the kind, as the field `kind` has it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            ActivityView::Call(view) => view.kind,
            ActivityView::Event(view) => view.kind,
            ActivityView::Delivery(view) => view.kind,
            ActivityView::Missed(view) => view.kind,
        }
    }
}

/// Status of an HTTP answer.
const HTTP_STATUS: Schema = schema!({ "type": "integer", "minimum": 100, "maximum": 599 });

/// Number that is not zero.
const POSITIVE: Schema = schema!({ "type": "integer", "minimum": 1 });

view! {
    /// A call was answered. What pages load is not told.
    pub(crate) CallView<'a> {
        kind: &'static str [schema!({ "type": "string", "const": "call" })] = "call";
        /// Id of the request, which its answer carries.
        request_id: &'a str [schema!({ "type": "string", "minLength": 1 })] = "req_5b24d10800000042";
        /// When it was answered, by the sandbox's clock, in UTC.
        at: Time = "2026-11-21T09:30:00.000Z";
        /// Its method.
        method: &'a str = "GET";
        /// Its path and its query.
        target: Cow<'a, str> = "/v1/balances";
        /// The operation's id; null where there is none.
        operation: Option<&'static str> = "getBalances";
        /// HTTP status of the answer.
        status: u16 [HTTP_STATUS] = 200;
        /// How long it took, in milliseconds.
        ms: i64 [Schema::COUNT] = 1;
        /// The key that was sent: a known one of the sandbox, or the last four characters.
        key: Option<&'a str> = "sk_test_sandbox";
        /// The body that was sent; passwords and private keys are left out.
        sent: BodyView<'a> = { "text": "", "cut": false };
        /// The body of the answer.
        answered: BodyView<'a> = { "text": "{\"data\":[]}", "cut": false };
    }
}

view! {
    /// An event was recorded, of either mode.
    pub(crate) EventActivityView<'a> {
        kind: &'static str [schema!({ "type": "string", "const": "event" })] = "event";
        /// The event, as GET /v1/events/{id} answers it.
        event: &'a RawValue = {};
    }
}

view! {
    /// An attempt to deliver an event was made.
    pub(crate) AttemptView<'a> {
        kind: &'static str [schema!({ "type": "string", "const": "delivery" })] = "delivery";
        /// Delivery id.
        delivery: &'a str [Schema::UUID];
        /// Id of the event delivered.
        event: &'a str [schema!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}$" })];
        /// Which attempt of the delivery it was.
        number: u32 [POSITIVE];
        /// Where it was sent.
        url: &'a str;
        /// The headers that were sent, signatures too.
        headers: BTreeMap<&'a str, &'a str>;
        /// The body that was sent.
        sent: BodyView<'a>;
        /// When the attempt was started, by the sandbox's clock, in UTC.
        at: Time;
        /// HTTP status of the answer; null when there was none.
        status: Option<u16> [Schema::Nullable(&HTTP_STATUS)];
        /// How long it took, in milliseconds.
        ms: i64 [Schema::COUNT];
        /// Why there was no answer; null when there was one.
        error: Option<&'a str>;
        /// Start of the answer's body; null when there was no answer.
        answer: Option<Cow<'a, str>>;
    }
}

view! {
    /// What happened between is not kept any more.
    pub(crate) MissedView {
        kind: &'static str [schema!({ "type": "string", "const": "missed" })] = "missed";
        /// How many.
        count: u64 [POSITIVE] = 1;
    }
}

view! {
    pub(crate) BodyView<'a> {
        /// Its text; empty for what is streamed.
        text: Cow<'a, str>;
        /// Whether it is only the start, 32 KiB.
        cut: bool;
    }
}
