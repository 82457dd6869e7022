//! Balances, ledger, corrections and events in the operator interface.

use super::invoice_desk::{BEFORE, CURRENCY, MODE, json, limit};
use crate::domain::event::EventType;
use crate::domain::refusal::Code;
use crate::http::api;
use crate::http::dashboard::books;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Body, Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 4] = [
    Route {
        operation: "listAccountBalances",
        path: "/dashboard/api/accounts/{account}/balances",
        summary: "Reads both balances of an account.",
        query: &[MODE],
        answers: &[json(200, "One balance for each currency.", "BalanceList")],
        handler: Handler::Session(|call, member| Box::pin(books::balances(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "listAccountLedger",
        path: "/dashboard/api/accounts/{account}/ledger",
        summary: "Pages through an account's ledger, newest first.",
        query: &[
            MODE,
            limit(200, api::account::LIMIT_DEFAULT),
            BEFORE,
            CURRENCY,
        ],
        answers: &[json(200, "A page of entries.", "LedgerPage")],
        handler: Handler::Session(|call, member| Box::pin(books::ledger(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "createAdjustment",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/adjustments",
        summary: "Corrects an account's ledger by an amount of either sign, for a reason that is kept.",
        query: &[MODE],
        body: Some(Body {
            schema: "CreateAdjustment",
            required: true,
        }),
        answers: &[json(201, "The entry that was booked.", "LedgerEntry")],
        refusals: &[Code::IdempotencyConflict],
        is_idempotent: true,
        handler: Handler::Operator(|call, operator| Box::pin(books::adjust(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "listAccountEvents",
        path: "/dashboard/api/accounts/{account}/events",
        summary: "Pages through an account's events, newest first, in the bodies of their webhooks.",
        query: &[
            MODE,
            limit(200, api::events::LIMIT_DEFAULT),
            BEFORE,
            Param {
                name: "type",
                about: "Only events of this type.",
                kind: ParamKind::OneOf(EventType::TEXTS),
            },
            Param {
                name: "object",
                about: "Only events about the object with this id.",
                kind: ParamKind::Id,
            },
        ],
        answers: &[json(200, "A page of events.", "EventPage")],
        handler: Handler::Session(|call, member| Box::pin(books::events(call, member))),
        ..PRIVATE
    },
];
