//! The operator interface: an account in numbers, and what waits for an operator.

use super::invoice_desk::{MODE, json};
use crate::http::dashboard::summary;
use crate::http::route::{Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 2] = [
    Route {
        operation: "getAccountSummary",
        path: "/dashboard/api/accounts/{account}/summary",
        summary: "Reads an account in numbers: balances, invoices, open payouts and refunds, endpoints that fail.",
        query: &[MODE],
        answers: &[json(200, "The numbers.", "AccountSummary")],
        handler: Handler::Session(|call, member| Box::pin(summary::of_account(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "getSummary",
        path: "/dashboard/api/summary",
        summary: "Counts what waits for an operator, over all accounts.",
        query: &[MODE],
        answers: &[json(200, "The counts.", "Summary")],
        handler: Handler::Operator(|call, operator| Box::pin(summary::of_all(call, operator))),
        ..PRIVATE
    },
];
