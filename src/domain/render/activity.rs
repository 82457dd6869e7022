//! JSON of the activity in a sandbox: calls, events, delivery attempts and e-mail.

use crate::domain::fields::{Component, Schema, schema, view};
use crate::domain::language::Language;
use crate::domain::mail::MailKind;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

text_enum! {
    /// Beginning of a sandbox's run.
    pub enum RunCause {
        /// The sandbox was started.
        Start = "start",
        /// The sandbox was reset.
        Reset = "reset",
        /// A snapshot was restored.
        Restore = "restore",
    }
}

/// One item of the activity in a sandbox.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ActivityView<'a> {
    Run(RunView),
    Call(CallView<'a>),
    Event(EventActivityView<'a>),
    Delivery(AttemptView<'a>),
    Mail(MailView<'a>),
    Missed(MissedView),
}

impl<'a> ActivityView<'a> {
    /// Component of the OpenAPI document.
    pub(crate) const COMPONENT: Component = Component::OneOf {
        name: "SandboxActivity",
        about: "A run, a call, an event, an attempt to deliver, an e-mail, or a gap.",
        choices: &[
            &Component::Inline(&RunView::OBJECT),
            &Component::Inline(&CallView::OBJECT),
            &Component::Inline(&EventActivityView::OBJECT),
            &Component::Inline(&AttemptView::OBJECT),
            &Component::Inline(&MailView::OBJECT),
            &Component::Inline(&MissedView::OBJECT),
        ],
    };

    /// Returns the item of a run with this id.
    pub(crate) fn from_run(run: String, cause: RunCause) -> ActivityView<'a> {
        ActivityView::Run(RunView { kind: "run", run, cause })
    }

    /// Returns the item of an event with this JSON.
    pub(crate) fn from_event(event: &'a RawValue) -> ActivityView<'a> {
        ActivityView::Event(EventActivityView { kind: "event", event })
    }

    /// Returns an item that says how many earlier items are no longer stored.
    pub(crate) fn from_missed_count(count: u64) -> ActivityView<'a> {
        ActivityView::Missed(MissedView { kind: "missed", count })
    }

    /// Returns the value of the field `kind`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            ActivityView::Run(view) => view.kind,
            ActivityView::Call(view) => view.kind,
            ActivityView::Event(view) => view.kind,
            ActivityView::Delivery(view) => view.kind,
            ActivityView::Mail(view) => view.kind,
            ActivityView::Missed(view) => view.kind,
        }
    }
}

/// Schema of an HTTP status code.
const HTTP_STATUS: Schema = schema!({ "type": "integer", "minimum": 100, "maximum": 599 });

/// Schema of a positive whole number.
const POSITIVE: Schema = schema!({ "type": "integer", "minimum": 1 });

view! {
    /// The run of the sandbox, first in each stream, and again when the sandbox is reset or a snapshot is restored.
    pub(crate) RunView {
        kind: &'static str [schema!({ "type": "string", "const": "run" })] = "run";
        /// Id of the run. Another id means that all earlier activity and data are gone.
        run: String [schema!({ "type": "string", "pattern": "^run_[0-9a-f]{16}$" })] = "run_5b24d10800000000";
        /// Beginning of the run.
        cause: RunCause = "start";
    }
}

view! {
    /// An answered call. Calls that load files of pages are left out.
    pub(crate) CallView<'a> {
        kind: &'static str [schema!({ "type": "string", "const": "call" })] = "call";
        /// Id of the request, also in its answer.
        request_id: &'a str [schema!({ "type": "string", "minLength": 1 })] = "req_5b24d10800000042";
        /// Time of the answer by the sandbox's clock, in UTC.
        at: Time = "2026-11-21T09:30:00.000Z";
        /// HTTP method.
        method: &'a str = "GET";
        /// Path and query.
        target: Cow<'a, str> = "/v1/balances";
        /// Id of the operation; null if there is none.
        operation: Option<&'static str> = "getBalances";
        /// HTTP status of the answer.
        status: u16 [HTTP_STATUS] = 200;
        /// Duration in milliseconds.
        ms: i64 [Schema::COUNT] = 1;
        /// Key of the call: a known key of the sandbox, or the last four characters.
        key: Option<&'a str> = "sk_test_sandbox";
        /// Headers that a command needs to repeat the call: key or cookie, Idempotency-Key, Content-Type. Secrets other
        /// than the sandbox's own keys are hidden.
        headers: BTreeMap<&'static str, Cow<'a, str>> = { "X-API-Key": "sk_test_sandbox" };
        /// Body of the request, without passwords and private keys.
        sent: BodyView<'a> = { "text": "", "cut": false };
        /// Body of the answer.
        answered: BodyView<'a> = { "text": "{\"data\":[]}", "cut": false };
    }
}

view! {
    /// A recorded event, of either mode.
    pub(crate) EventActivityView<'a> {
        kind: &'static str [schema!({ "type": "string", "const": "event" })] = "event";
        /// The event, as GET /v1/events/{id} returns it.
        event: &'a RawValue = {};
    }
}

view! {
    /// An attempt to deliver an event.
    pub(crate) AttemptView<'a> {
        kind: &'static str [schema!({ "type": "string", "const": "delivery" })] = "delivery";
        /// Delivery id.
        delivery: &'a str [Schema::UUID];
        /// Id of the event.
        event: &'a str [schema!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}$" })];
        /// Number of the attempt in its delivery, from 1.
        number: u32 [POSITIVE];
        /// URL of the attempt.
        url: &'a str;
        /// Headers of the attempt, with signatures.
        headers: BTreeMap<&'a str, &'a str>;
        /// Body of the attempt.
        sent: BodyView<'a>;
        /// Start of the attempt by the sandbox's clock, in UTC.
        at: Time;
        /// HTTP status of the answer; null without an answer.
        status: Option<u16> [Schema::Nullable(&HTTP_STATUS)];
        /// Duration in milliseconds.
        ms: i64 [Schema::COUNT];
        /// Reason for a missing answer; null with an answer.
        error: Option<&'a str>;
        /// Start of the answer's body; null without an answer.
        answer: Option<Cow<'a, str>>;
    }
}

view! {
    /// A message by e-mail. A sandbox sends none: it only shows them.
    pub(crate) MailView<'a> {
        kind: &'static str [schema!({ "type": "string", "const": "mail" })] = "mail";
        /// Message-ID.
        id: &'a str;
        /// Kind of the message: to the team, or a receipt for a payer.
        about: MailKind;
        /// Time of the message by the sandbox's clock, in UTC.
        at: Time;
        /// Address of the recipient.
        to: &'a str;
        /// Language of the text.
        language: Language;
        /// Subject.
        subject: &'a str;
        /// Plain text.
        text: &'a str;
    }
}

view! {
    /// A gap: older activity is not kept.
    pub(crate) MissedView {
        kind: &'static str [schema!({ "type": "string", "const": "missed" })] = "missed";
        /// Number of missing items.
        count: u64 [POSITIVE] = 1;
    }
}

view! {
    pub(crate) BodyView<'a> {
        /// Text; empty for streams.
        text: Cow<'a, str>;
        /// Whether the text is only the first 32 KiB.
        cut: bool;
    }
}
