//! Deliveries as the operator interface answers them, and as the sandbox does.

use crate::domain::event::{DeliveryState, EventType};
use crate::domain::fields::view::Sometimes;
use crate::domain::fields::{Schema, Shown, schema, view};
use crate::domain::time::Time;
use std::collections::BTreeMap;

view! {
    pub(crate) DeliveryFields<'a> {
        /// Delivery id.
        id: &'a str [Schema::UUID] = "01a1fd72-0c90-7ef7-bc13-a38180937100";
        /// The event that is told.
        event: &'a str [schema!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}$" })] = "evt_01a1fd720c907ef7bc13a38180936ffa";
        /// What happened.
        r#type: EventType = "invoice.confirmed";
        /// Id of the object that the event is about.
        object_id: &'a str = "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// The endpoint that is told; null for the invoice's own webhookUrl.
        endpoint: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = "01a1fd55-7a80-7af2-9132-9b2fc82e5eff";
        /// Where it is sent.
        url: &'a str = "https://shop.example/webhooks";
        /// How far it has come.
        state: DeliveryState = "delivered";
        /// When it is tried next, in UTC; null when it is not.
        next_attempt_at: Option<Time> = null;
        /// When the event happened, in UTC.
        created_at: Time = "2026-11-21T09:31:12.400Z";
    }
}

view! {
    /// A webhook delivery with its attempts.
    pub(crate) DeliveryView<'a> as "Delivery" {
        [flatten] base: DeliveryFields<'a>;
        /// The newest attempts of the last 90 days, oldest first, numbered on when it is sent again.
        attempts: Vec<AttemptView<'a>> [Schema::ListUpTo(33, &AttemptView::SCHEMA)] = [
            { "number": 1, "at": "2026-11-21T09:31:12.410Z", "status": 200, "latencyMs": 38, "error": null, "answer": "ok" }
        ];
    }
}

view! {
    /// A webhook delivery as it is sent, with its attempts.
    pub(crate) DeliveryDetailView<'a> as "DeliveryDetail" {
        [flatten] base: DeliveryFields<'a>;
        /// The newest attempts of the last 90 days, oldest first, numbered on when it is sent again.
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
        /// What was sent last, byte for byte; before the first attempt, what it will send.
        body: &'a str = "{\"id\":\"evt_01a1fd720c907ef7bc13a38180936ffa\"}";
    }
}

view! {
    pub(crate) AttemptView<'a> {
        /// Which attempt it was.
        number: u32 [schema!({ "type": "integer", "minimum": 1 })];
        /// When it began, in UTC.
        at: Time;
        /// Status of the answer; null where there was none.
        status: Option<u16> [Schema::Nullable(&<i64 as Shown>::SCHEMA)];
        /// How long it took, in milliseconds.
        latency_ms: i64 [Schema::COUNT];
        /// Why there was no answer; null where there was one.
        error: Option<&'a str>;
        /// The start of the answer; null where there was none.
        answer: Option<&'a str>;
    }
}

view! {
    pub(crate) AttemptDetailView<'a> {
        [flatten] base: AttemptView<'a>;
        /// What was sent besides the body, as it was sent; absent where nothing could be sent, where the endpoint had
        /// another format then, and for attempts before this was kept.
        headers: Sometimes<BTreeMap<&'static str, String>> [HEADERS];
    }
}

view! {
    /// How many deliveries are sent again.
    pub(crate) ResentView as "Resent" {
        /// How many.
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
        "Content-Type": { "type": "string", "description": "The type of the body." },
        "X-Service-Signature": {
            "type": "string", "description": "The time of the attempt in seconds, and a signature for each secret."
        },
        "webhook-id": { "type": "string", "description": "Id of the event." },
        "webhook-timestamp": { "type": "string", "description": "The time of the attempt, in seconds since 1970." },
        "webhook-signature": {
            "type": "string", "description": "A signature of Standard Webhooks for each secret."
        }
    }
});
