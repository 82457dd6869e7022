//! The operator interface: resellers' tokens.

use super::invoice_desk::json;
use crate::http::dashboard::tokens;
use crate::http::route::{Answer, Content, Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 3] = [
    Route {
        operation: "listResellerTokens",
        path: "/dashboard/api/accounts/{account}/reseller-tokens",
        summary: "Lists an account's reseller tokens, oldest first, by their last four characters.",
        answers: &[json(200, "The tokens.", "ResellerTokenList")],
        handler: Handler::Session(|call, member| Box::pin(tokens::list(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "createResellerToken",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/reseller-tokens",
        summary: "Makes a token of the reseller interface and shows it, once.",
        answers: &[json(201, "The token.", "CreatedResellerToken")],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| Box::pin(tokens::create(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "revokeResellerToken",
        method: "DELETE",
        path: "/dashboard/api/accounts/{account}/reseller-tokens/{id}",
        summary: "Revokes a reseller token at once; the servers that were ordered with it stay.",
        answers: &[Answer {
            status: 204,
            about: "Revoked.",
            content: Content::Empty,
        }],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| Box::pin(tokens::revoke(call, member))),
        ..PRIVATE
    },
];
