//! JSON of the activity in a sandbox: calls, events, delivery attempts and e-mail.

use crate::domain::fields::{Component, Schema, schema, view};
use crate::domain::text_enum::text_enum;
use crate::domain::{Language, MailKind, Time};
use serde_json::value::RawValue;
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

/// Item of the activity, in the OpenAPI document.
pub(crate) const ACTIVITY: Component = Component::OneOf {
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

const HTTP_STATUS: Schema = schema!({ "type": "integer", "minimum": 100, "maximum": 599 });

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
    #[derive(Clone)]
    pub CallView {
        kind: &'static str [schema!({ "type": "string", "const": "call" })] = "call";
        /// Id of the request, also in its answer.
        request_id: String [schema!({ "type": "string", "minLength": 1 })] = "req_5b24d10800000042";
        /// Time of the answer by the sandbox's clock, in UTC.
        at: Time = "2026-11-21T09:30:00.000Z";
        /// HTTP method.
        method: String = "GET";
        /// Path and query.
        target: String = "/v1/balances";
        /// Id of the operation; null if there is none.
        operation: Option<&'static str> = "getBalances";
        /// HTTP status of the answer.
        status: u16 [HTTP_STATUS] = 200;
        /// Duration in milliseconds.
        ms: i64 [Schema::COUNT] = 1;
        /// Key of the call: a known key of the sandbox, or the last four characters.
        key: Option<String> = "sk_test_sandbox";
        /// Headers that a command needs to repeat the call: key or cookie, Idempotency-Key, Content-Type. Secrets other
        /// than the sandbox's own keys are hidden.
        headers: BTreeMap<&'static str, String> = { "X-API-Key": "sk_test_sandbox" };
        /// Body of the request, without passwords and private keys.
        sent: BodyView = { "text": "", "cut": false };
        /// Body of the answer.
        answered: BodyView = { "text": "{\"data\":[]}", "cut": false };
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
    #[derive(Clone)]
    pub AttemptView {
        kind: &'static str [schema!({ "type": "string", "const": "delivery" })] = "delivery";
        /// Delivery id.
        delivery: String [Schema::UUID];
        /// Id of the event.
        event: String [schema!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}$" })];
        /// Number of the attempt in its delivery, from 1.
        number: u32 [POSITIVE];
        /// URL of the attempt.
        url: String;
        /// Headers of the attempt, with signatures.
        headers: BTreeMap<&'static str, String>;
        /// Body of the attempt.
        sent: BodyView;
        /// Start of the attempt by the sandbox's clock, in UTC.
        at: Time;
        /// HTTP status of the answer; null without an answer.
        status: Option<u16> [Schema::Nullable(&HTTP_STATUS)];
        /// Duration in milliseconds.
        ms: i64 [Schema::COUNT];
        /// Reason for a missing answer; null with an answer.
        error: Option<String>;
        /// Start of the answer's body; null without an answer.
        answer: Option<String>;
    }
}

view! {
    /// A message by e-mail. A sandbox sends none: it only shows them.
    pub MailView {
        kind: &'static str [schema!({ "type": "string", "const": "mail" })] = "mail";
        /// Message-ID.
        id: String;
        /// Kind of the message: to the team, or a receipt for a payer.
        about: MailKind;
        /// Time of the message by the sandbox's clock, in UTC.
        at: Time;
        /// Address of the recipient.
        to: String;
        /// Language of the text.
        language: Language;
        /// Subject.
        subject: String;
        /// Plain text.
        text: String;
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
    #[derive(Clone)]
    pub BodyView {
        /// Text; empty for streams.
        text: String;
        /// Whether the text is only the first 32 KiB.
        cut: bool;
    }
}
