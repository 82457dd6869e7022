//! JSON of webhook endpoints.

use crate::domain::fields::{Schema, ViewField, view};
use crate::domain::{EventType, Mode, Time, WebhookEndpoint, WebhookFormat};

view! {
    /// A webhook endpoint.
    pub EndpointView<'a> as "Endpoint", object "endpoint" {
        /// Endpoint id.
        id: &'a str [Schema::UUID] = "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10";
        /// URL that receives the events.
        url: &'a str [Schema::URL] = "https://shop.example/webhooks";
        /// Event types that it receives; null for all.
        types: Option<&'a [EventType]> [EVENT_TYPES] = null;
        /// Format of the bodies that it receives.
        format: WebhookFormat = "event";
        /// Mode of the events that it receives; null for both.
        mode: Option<Mode> = null;
        /// Whether it receives events.
        enabled: bool = true;
    }
}

view! {
    /// A new endpoint.
    pub CreatedEndpointView<'a> as "CreatedEndpoint" {
        /// Fields of the endpoint.
        [flatten] base: EndpointView<'a>;
        /// Secret that signs its deliveries.
        secret: &'a str = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh";
    }
}

view! {
    /// A secret that signs webhooks.
    pub SigningSecretView<'a> as "SigningSecret", object "secret" {
        /// The secret.
        secret: &'a str = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh";
        /// Time until which the previous secret signs too, in UTC; null without one.
        previous_until: Option<Time> = null;
    }
}

/// Schema of a list of event types, or null for all types.
pub const EVENT_TYPES: Schema = Schema::OrNull(&<&[EventType] as ViewField>::SCHEMA);

impl<'a> EndpointView<'a> {
    /// Returns the view of an endpoint.
    pub fn new(endpoint: &'a WebhookEndpoint) -> EndpointView<'a> {
        EndpointView {
            id: &endpoint.id,
            url: &endpoint.url,
            types: endpoint.types.as_deref(),
            format: endpoint.format,
            mode: endpoint.mode,
            enabled: endpoint.enabled,
        }
    }
}
