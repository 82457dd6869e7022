//! Webhooks in the OpenAPI documents: each event with its bodies and headers.
//!
//! Invariant: a document with webhooks lists every [`EventType`].

use super::parameters::Parameter;
use crate::domain::fields::Component;
use crate::domain::{EventType, WebhookFormat};
use crate::render::InvoiceView;
use crate::render::account::AccountView;
use crate::render::customer::DepositView;
use crate::render::event::{EventView, LegacyEventView};
use crate::render::transfers::{PayoutView, RefundView};
use serde_json::{Value, json};

/// Name and description of the tag of all webhooks.
pub(super) const TAG: (&str, &str) = ("Webhooks", "Requests from Coffer to a shop's server.");

/// Headers of a webhook delivery: name, pattern, description.
const HEADERS: [(&str, &str, &str); 4] = [
    (
        "X-Service-Signature",
        "^t=[0-9]+(,v1=[0-9a-f]{64})+$",
        "t=<unix seconds>,v1=<hex HMAC-SHA256 of \"<t>.<raw body>\" under the secret as it stands>; one v1 that fits is enough.",
    ),
    (
        "webhook-id",
        "^evt_[0-9a-f]{32}$",
        "Id of the event, the same in every attempt (Standard Webhooks).",
    ),
    (
        "webhook-timestamp",
        "^[0-9]+$",
        "When this attempt was signed, in unix seconds (Standard Webhooks).",
    ),
    (
        "webhook-signature",
        "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$",
        "v1,<base64 HMAC-SHA256 of \"<webhook-id>.<webhook-timestamp>.<raw body>\" under the key that the secret carries> (Standard Webhooks).",
    ),
];

/// Names of the bodies of webhooks: the usual format and the legacy format.
pub(in crate::http) const BODIES: [&str; 2] =
    [EventView::COMPONENT.name(), LegacyEventView::COMPONENT.name()];

/// Body of a webhook in the legacy format. No operation refers to this component.
pub(super) static LEGACY_EVENT: Component = LegacyEventView::COMPONENT;

/// Returns the `webhooks` object of the document, with one operation for each event type.
pub(super) fn webhooks() -> Value {
    let each = EventType::ALL.iter();
    let each = each.map(|kind| (kind.as_str().to_owned(), webhook_operation(*kind)));
    Value::Object(each.collect())
}

pub(in crate::http) fn headers() -> [Parameter; 4] {
    HEADERS.map(|(name, pattern, about)| Parameter {
        name,
        place: "header",
        is_required: true,
        about,
        schema: json!({ "type": "string", "pattern": pattern }),
    })
}

fn words(kind: EventType) -> String {
    kind.as_str().replace(['.', '_'], " ")
}

pub(in crate::http) fn summary(kind: EventType) -> String {
    format!("Notifies of the event: {}.", words(kind))
}

fn webhook_operation(kind: EventType) -> Value {
    let named = |schema: &str, field: &str, name: &str| {
        json!({ "allOf": [
            { "$ref": format!("#/components/schemas/{schema}") },
            { "type": "object", "properties": { field: { "const": name } } },
        ] })
    };
    let event = named("Event", "type", kind.as_str());
    let legacy = kind.in_format(WebhookFormat::Legacy).map(EventType::as_str);
    let schema = match legacy {
        Some(name) => json!({ "oneOf": [event, named("LegacyEvent", "event", name)] }),
        None => event,
    };
    let content = json!({ "schema": schema, "example": event_example(kind) });
    json!({ "post": {
        "operationId": format!("webhook {}", words(kind)).split(' ').map(capitalize).collect::<String>(),
        "summary": summary(kind),
        "tags": [TAG.0],
        "security": [],
        "parameters": headers(),
        "requestBody": { "required": true, "content": { "application/json": content } },
        "responses": {
            "2XX": { "description": "The receiver accepted it. Another status, or no answer within 10 seconds, leads to a further attempt." },
        },
    } })
}

fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Returns an example of an event of this type, made from the example of the event's object.
pub(in crate::http) fn event_example(kind: EventType) -> Value {
    let (subject, step) = kind.as_str().split_once('.').unwrap_or_default();
    let component = match subject {
        "invoice" => InvoiceView::COMPONENT,
        "deposit" => DepositView::COMPONENT,
        "payout" => PayoutView::COMPONENT,
        "refund" => RefundView::COMPONENT,
        _ => AccountView::COMPONENT,
    };
    let mut object = component.example();
    let is_paid = matches!(kind, EventType::InvoiceConfirmed | EventType::InvoiceOverpaid);
    if let Some(fields) = object.as_object_mut() {
        let status = match kind {
            EventType::AccountApproved => "active",
            _ => step,
        };
        fields.insert("status".to_owned(), json!(status));
        if matches!(kind, EventType::PayoutFailed | EventType::RefundFailed) {
            fields.insert("txid".to_owned(), Value::Null);
            fields.insert("failureReason".to_owned(), json!("The wallet is empty"));
        }
        if subject == "invoice" {
            fields.insert("paid".to_owned(), json!(is_paid));
            if !is_paid {
                fields.insert("confirmedAt".to_owned(), Value::Null);
            }
        }
    }
    let mut event = EventView::COMPONENT.example();
    if let Some(fields) = event.as_object_mut() {
        fields.insert("type".to_owned(), json!(kind));
        let mode = object.get("livemode").cloned().unwrap_or(json!(true));
        fields.insert("livemode".to_owned(), mode);
        fields.insert("data".to_owned(), json!({ "object": object }));
    }
    event
}
