//! The operator interface: webhook endpoints.

use super::invoice_desk::json;
use crate::http::dashboard::endpoints;
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 6] = [
    Route {
        operation: "listEndpoints",
        path: "/dashboard/api/accounts/{account}/endpoints",
        summary: "Lists an account's webhook endpoints, oldest first.",
        answers: &[json(200, "The endpoints.", "EndpointList")],
        handler: Handler::Session(|call, member| Box::pin(endpoints::list(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "createEndpoint",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/endpoints",
        summary: "Makes a webhook endpoint and its secret.",
        body: Some(Body {
            schema: "CreateEndpoint",
            required: true,
        }),
        answers: &[json(
            201,
            "The endpoint, with its secret.",
            "CreatedEndpoint",
        )],
        handler: Handler::Session(|call, member| Box::pin(endpoints::create(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "changeEndpoint",
        method: "PATCH",
        path: "/dashboard/api/accounts/{account}/endpoints/{id}",
        summary: "Changes a webhook endpoint, or switches it on or off.",
        body: Some(Body {
            schema: "ChangeEndpoint",
            required: true,
        }),
        answers: &[json(200, "The endpoint.", "Endpoint")],
        handler: Handler::Session(|call, member| Box::pin(endpoints::change(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "removeEndpoint",
        method: "DELETE",
        path: "/dashboard/api/accounts/{account}/endpoints/{id}",
        summary: "Removes a webhook endpoint; what was still to be sent to it is given up.",
        answers: &[Answer {
            status: 204,
            about: "Removed.",
            content: Content::Empty,
        }],
        handler: Handler::Session(|call, member| Box::pin(endpoints::remove(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "getEndpointSecret",
        path: "/dashboard/api/accounts/{account}/endpoints/{id}/secret",
        summary: "Shows an endpoint's secret; the audit log notes to whom.",
        answers: &[json(200, "The secret.", "SigningSecret")],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| Box::pin(endpoints::show_secret(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "rollEndpointSecret",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/endpoints/{id}/roll-secret",
        summary: "Makes an endpoint's new secret; for 24 hours the old one signs too.",
        answers: &[json(200, "The new secret.", "SigningSecret")],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| Box::pin(endpoints::roll_secret(call, member))),
        ..PRIVATE
    },
];
