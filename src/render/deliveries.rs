//! JSON of deliveries, for the operator interface and the sandbox.

use crate::domain::fields::view::OmittedIfNone;
use crate::domain::fields::{Schema, ViewField, schema, view};
use crate::domain::{DeliveryState, EventType, Time};
use std::collections::BTreeMap;

view! {
    pub(crate) DeliveryFields<'a> {
        /// Delivery id.
        id: &'a str [Schema::UUID] = "01a1fd72-0c90-7ef7-bc13-a38180937100";
        /// Id of the event.
        event: &'a str [schema!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}$" })] = "evt_01a1fd720c907ef7bc13a38180936ffa";
        /// Type of the event.
        r#type: EventType = "invoice.confirmed";
        /// Id of the object of the event.
        object_id: &'a str = "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// Id of the endpoint; null for the invoice's own webhookUrl.
        endpoint: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = "01a1fd55-7a80-7af2-9132-9b2fc82e5eff";
        /// URL of the delivery.
        url: &'a str = "https://shop.example/webhooks";
        /// State of the delivery.
        state: DeliveryState = "delivered";
        /// Time of the next attempt, in UTC; null if there is none.
        next_attempt_at: Option<Time> = null;
        /// Time of the event, in UTC.
        created_at: Time = "2026-11-21T09:31:12.400Z";
    }
}

view! {
    /// A webhook delivery with its attempts.
    pub(crate) DeliveryView<'a> as "Delivery" {
        [flatten] base: DeliveryFields<'a>;
        /// The newest attempts, in the order of time. Attempts are deleted after 30 days, or the time of --keep-attempts.
        /// Attempt numbers continue when a delivery is resent.
        attempts: Vec<AttemptView<'a>> [Schema::ListUpTo(33, &AttemptView::SCHEMA)] = [
            { "number": 1, "at": "2026-11-21T09:31:12.410Z", "status": 200, "latencyMs": 38, "error": null, "answer": "ok" }
        ];
    }
}

view! {
    /// A webhook delivery with its body and its attempts.
    pub(crate) DeliveryDetailView<'a> as "DeliveryDetail" {
        [flatten] base: DeliveryFields<'a>;
        /// The newest attempts, in the order of time. Attempts are deleted after 30 days, or the time of --keep-attempts.
        /// Attempt numbers continue when a delivery is resent.
        attempts: Vec<AttemptDetailView<'a>> [Schema::ListUpTo(33, &AttemptDetailView::SCHEMA)] = [{
            "number": 1, "at": "2026-11-21T09:31:12.410Z", "status": 200, "latencyMs": 38, "error": null, "answer": "ok",
            "headers": {
                "Content-Type": "application/json",
                "X-Service-Signature": "t=1795253472,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
                "webhook-id": "evt_01a1fd720c907ef7bc13a38180936ffa",
                "webhook-timestamp": "1795253472",
                "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
            }
        }];
        /// Body of the last attempt, byte for byte; before the first attempt, the body to send.
        body: &'a str = "{\"id\":\"evt_01a1fd720c907ef7bc13a38180936ffa\"}";
    }
}

view! {
    pub(crate) AttemptView<'a> {
        /// Number of the attempt.
        number: u32 [schema!({ "type": "integer", "minimum": 1 })];
        /// Start of the attempt, in UTC.
        at: Time;
        /// HTTP status of the answer; null without an answer.
        status: Option<u16> [Schema::Nullable(&<i64 as ViewField>::SCHEMA)];
        /// Duration of the attempt, in milliseconds.
        latency_ms: i64 [Schema::COUNT];
        /// Why there was no answer; null where there was one.
        error: Option<&'a str>;
        /// Start of the answer's body; null without an answer.
        answer: Option<&'a str>;
    }
}

view! {
    pub(crate) AttemptDetailView<'a> {
        [flatten] base: AttemptView<'a>;
        /// Headers of the attempt; absent if nothing was sent, if the endpoint had another format then, and for
        /// attempts from before headers were kept.
        headers: OmittedIfNone<BTreeMap<&'static str, String>> [HEADERS];
    }
}

view! {
    /// Number of deliveries that are sent again.
    pub(crate) ResentView as "Resent" {
        /// Number of deliveries.
        count: u64 = 12;
    }
}

const HEADERS: Schema = schema!({
    "type": "object",
    "additionalProperties": false,
    "required": [
        "Content-Type", "X-Service-Signature", "webhook-id", "webhook-timestamp", "webhook-signature"
    ],
    "properties": {
        "Content-Type": { "type": "string", "description": "Media type of the body." },
        "X-Service-Signature": {
            "type": "string", "description": "Time of the attempt in seconds, and a signature for each secret."
        },
        "webhook-id": { "type": "string", "description": "Id of the event." },
        "webhook-timestamp": { "type": "string", "description": "Time of the attempt, in Unix seconds." },
        "webhook-signature": {
            "type": "string", "description": "Signature of Standard Webhooks for each secret."
        }
    }
});
