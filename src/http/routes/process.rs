//! The operations that machines ask of the process itself.

use crate::domain::refusal::Code;
use crate::http::probes;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Content, Handler, PLAIN, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 4] = [
    Route {
        operation: "getOpenApi",
        path: "/v1/openapi.json",
        summary: "This document.",
        answers: &[Answer {
            status: 200,
            about: "The OpenAPI 3.1 document.",
            content: Content::AnyJson,
        }],
        handler: Handler::Open(|call| Box::pin(probes::document(call))),
        ..PRIVATE
    },
    Route {
        operation: "livez",
        path: "/livez",
        summary: "Is the process alive?",
        answers: &[Answer {
            status: 200,
            about: "It is.",
            content: Content::Text,
        }],
        handler: Handler::Open(|call| Box::pin(probes::livez(call))),
        ..PLAIN
    },
    Route {
        operation: "readyz",
        path: "/readyz",
        summary: "Should requests be sent here?",
        query: &[Param {
            name: "verbose",
            about: "Says what was looked at, a line each, and whether the wall clock is believed.",
            kind: ParamKind::Any,
        }],
        answers: &[Answer {
            status: 200,
            about: "They should.",
            content: Content::Text,
        }],
        refusals: &[Code::Overloaded],
        handler: Handler::Open(|call| Box::pin(probes::readyz(call))),
        ..PLAIN
    },
    Route {
        operation: "metrics",
        path: "/metrics",
        summary: "Counters in Prometheus' text format; with `--metrics-listen` on a listener of their own only.",
        answers: &[Answer {
            status: 200,
            about: "The counters.",
            content: Content::Text,
        }],
        handler: Handler::Metrics(|call, scraper| Box::pin(probes::metrics(call, scraper))),
        ..PLAIN
    },
];
