//! Deliveries as a sandbox shows them.

use crate::domain::event::{DeliveryState, EventType};
use crate::domain::fields::{Schema, schema, view};
use crate::domain::time::Time;

view! {
    pub SandboxDeliveryView<'a> {
        /// Delivery id.
        id: &'a str [Schema::UUID];
        /// Id of the event delivered.
        event: &'a str [schema!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}$" })];
        /// Type of the event delivered.
        r#type: EventType;
        /// Id of the account's endpoint; null for the invoice's own webhookUrl.
        endpoint: Option<&'a str> [Schema::Nullable(&Schema::UUID)];
        /// Where the event is delivered.
        url: &'a str [Schema::URL];
        /// Whether an attempt is still to come, one was answered 2xx, or all failed.
        state: DeliveryState;
        /// When the next attempt falls due, in UTC; null when none will be made.
        next_attempt_at: Option<Time>;
        /// The attempts made, oldest first.
        attempts: Vec<SandboxAttemptView<'a>>;
    }
}

view! {
    pub SandboxAttemptView<'a> {
        /// When the attempt was started, in UTC.
        at: Time;
        /// HTTP status of the answer; null when there was none.
        status: Option<u16> [Schema::Nullable(&schema!({ "type": "integer", "minimum": 100, "maximum": 599 }))];
        /// How long the attempt took, in milliseconds.
        latency_ms: i64 [Schema::COUNT];
        /// Why there was no answer; null when there was one.
        error: Option<&'a str>;
        /// Start of the answer's body; null when there was no answer.
        answer: Option<&'a str>;
    }
}
