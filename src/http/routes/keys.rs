//! The operator interface: keys.

use super::invoice_desk::json;
use crate::domain::refusal::Code;
use crate::http::dashboard::keys;
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 4] = [
    Route {
        operation: "listKeys",
        path: "/dashboard/api/accounts/{account}/keys",
        summary: "Lists an account's keys of both modes, oldest first, by their last four characters.",
        answers: &[json(200, "The keys.", "KeyList")],
        handler: Handler::Session(|call, member| Box::pin(keys::list(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "createKey",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/keys",
        summary: "Makes a key and shows it, once; or takes over a legacy one that a shop has.",
        body: Some(Body {
            schema: "CreateKey",
            required: true,
        }),
        answers: &[json(201, "The key.", "CreatedKey")],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| Box::pin(keys::create(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "rollKey",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/keys/{id}/roll",
        summary: "Makes the successor of a key and shows it, once; the old one works on for a while.",
        body: Some(Body {
            schema: "RollKey",
            required: false,
        }),
        answers: &[json(201, "The new key.", "CreatedKey")],
        refusals: &[Code::InvalidTransition],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| Box::pin(keys::roll(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "revokeKey",
        method: "DELETE",
        path: "/dashboard/api/accounts/{account}/keys/{id}",
        summary: "Revokes a key at once.",
        answers: &[Answer {
            status: 204,
            about: "Revoked.",
            content: Content::Empty,
        }],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| Box::pin(keys::revoke(call, member))),
        ..PRIVATE
    },
];
