//! The operator interface: pools of addresses, and payments that matched nothing.

use crate::domain::refusal::Code;
use crate::http::dashboard::{pools, unmatched};
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};
use crate::service::unmatched::Looked;

/// The list.
pub(super) static ROUTES: [Route; 5] = [
    Route {
        operation: "listPools",
        path: "/dashboard/api/pools",
        summary: "Lists the pools of imported addresses, with how many are free.",
        answers: &[Answer {
            status: 200,
            about: "The pools.",
            content: Content::Json("PoolList"),
        }],
        handler: Handler::Operator(|call, operator| Box::pin(pools::list(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "importAddresses",
        method: "POST",
        path: "/dashboard/api/pools/{pool}/addresses",
        summary: "Adds live addresses to a pool; all of them, or none where one is wrong. Known ones are counted, not doubled.",
        body: Some(Body {
            schema: "ImportAddresses",
            required: true,
        }),
        answers: &[Answer {
            status: 200,
            about: "What was added.",
            content: Content::Json("PoolImport"),
        }],
        needs_recent_password: true,
        handler: Handler::Operator(|call, operator| Box::pin(pools::import(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "listUnmatchedPayments",
        path: "/dashboard/api/unmatched-payments",
        summary: "Pages through the payments that matched nothing, newest first.",
        query: &[
            Param {
                name: "limit",
                about: "How many at most.",
                kind: ParamKind::Limit {
                    max: 200,
                    default: unmatched::LIMIT_DEFAULT,
                },
            },
            Param {
                name: "before",
                about: "The nextBefore of the previous page: only payments older than it.",
                kind: ParamKind::Id,
            },
            Param {
                name: "status",
                about: "Only those nobody has looked at, or all; all where it is left out.",
                kind: ParamKind::OneOf(Looked::TEXTS),
            },
        ],
        answers: &[Answer {
            status: 200,
            about: "A page of payments.",
            content: Content::Json("UnmatchedPaymentPage"),
        }],
        handler: Handler::Operator(|call, operator| Box::pin(unmatched::list(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "resolveUnmatchedPayment",
        method: "POST",
        path: "/dashboard/api/unmatched-payments/{id}",
        summary: "Marks a payment that matched nothing as looked at; a second note takes the place of the first.",
        body: Some(Body {
            schema: "ResolveUnmatchedPayment",
            required: true,
        }),
        answers: &[Answer {
            status: 200,
            about: "The payment.",
            content: Content::Json("UnmatchedPayment"),
        }],
        handler: Handler::Operator(|call, operator| Box::pin(unmatched::resolve(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "assignUnmatchedPayment",
        method: "POST",
        path: "/dashboard/api/unmatched-payments/{id}/assign",
        summary: "Gives a payment that matched nothing to an invoice or to a customer; it counts as seen when it was seen.",
        body: Some(Body {
            schema: "AssignUnmatchedPayment",
            required: true,
        }),
        answers: &[Answer {
            status: 200,
            about: "What it has become.",
            content: Content::Json("UnmatchedPaymentAssignment"),
        }],
        refusals: &[Code::CoinUnavailable, Code::InvalidTransition],
        handler: Handler::Operator(|call, operator| Box::pin(unmatched::assign(call, operator))),
        ..PRIVATE
    },
];
