//! JSON of deliveries, for a sandbox.

use crate::domain::fields::{Schema, schema, view};
use crate::domain::{DeliveryState, EventType, Time};

view! {
    pub SandboxDeliveryView<'a> {
        /// Delivery id.
        id: &'a str [Schema::UUID];
        /// Id of the event.
        event: &'a str [schema!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}$" })];
        /// Type of the event.
        r#type: EventType;
        /// Id of the account's endpoint; null for the invoice's own webhookUrl.
        endpoint: Option<&'a str> [Schema::Nullable(&Schema::UUID)];
        /// URL of the delivery.
        url: &'a str [Schema::URL];
        /// pending: a further attempt follows; delivered: an attempt was answered 2xx; failed: all attempts failed.
        state: DeliveryState;
        /// Time of the next attempt, in UTC; null if there is none.
        next_attempt_at: Option<Time>;
        /// Attempts, oldest first.
        attempts: Vec<SandboxAttemptView<'a>>;
    }
}

view! {
    pub SandboxAttemptView<'a> {
        /// Start of the attempt, in UTC.
        at: Time;
        /// HTTP status of the answer; null without an answer.
        status: Option<u16> [Schema::Nullable(&schema!({ "type": "integer", "minimum": 100, "maximum": 599 }))];
        /// Duration of the attempt, in milliseconds.
        latency_ms: i64 [Schema::COUNT];
        /// Reason for a missing answer; null with an answer.
        error: Option<&'a str>;
        /// Start of the answer's body; null without an answer.
        answer: Option<&'a str>;
    }
}
