//! The operations for shops' pages: under `/v1/public`, with a public key.

use crate::domain::refusal::Code;
use crate::http::public;
use crate::http::route::{Answer, Body, Content, Handler, Route, SHARED};

/// The question a browser asks before it lets a page ask.
const PREFLIGHT: Route = Route {
    method: "OPTIONS",
    summary: "Tells a browser that pages of every site may ask here.",
    answers: &[Answer {
        status: 204,
        about: "They may.",
        content: Content::Empty,
    }],
    handler: Handler::Open(|call| Box::pin(public::preflight(call))),
    ..SHARED
};

/// The list.
pub(super) static ROUTES: [Route; 4] = [
    Route {
        operation: "getPublicConfig",
        path: "/v1/public/config",
        summary: "Reads what a shop's page may know: name, branding, currencies, coins, the widget's url.",
        answers: &[Answer {
            status: 200,
            about: "The configuration.",
            content: Content::Json("PublicConfig"),
        }],
        handler: Handler::Public(|call, key| Box::pin(public::config(call, key))),
        ..SHARED
    },
    Route {
        operation: "preflightPublicConfig",
        path: "/v1/public/config",
        ..PREFLIGHT
    },
    Route {
        operation: "createCheckoutSession",
        method: "POST",
        path: "/v1/public/checkout-sessions",
        summary: "Says where an invoice that the shop's server made is paid.",
        body: Some(Body {
            schema: "CreateCheckoutSession",
            required: true,
        }),
        answers: &[Answer {
            status: 200,
            about: "Where it is paid.",
            content: Content::Json("CheckoutSession"),
        }],
        refusals: &[Code::NotFound],
        handler: Handler::Public(|call, key| Box::pin(public::checkout_session(call, key))),
        ..SHARED
    },
    Route {
        operation: "preflightCheckoutSessions",
        path: "/v1/public/checkout-sessions",
        ..PREFLIGHT
    },
];
