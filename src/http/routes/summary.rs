//! The operator interface: an account in numbers, and what waits for an operator.

use super::invoice_desk::{MEMBER, MODE, json};
use crate::domain::user::Role;
use crate::http::auth::Auth;
use crate::http::dashboard::summary;
use crate::http::route::Route;

/// The list.
pub(super) static ROUTES: [Route; 2] = [
    Route {
        operation: "getAccountSummary",
        path: "/dashboard/api/accounts/{account}/summary",
        summary: "Reads an account in numbers: balances, invoices, open payouts and refunds, endpoints that fail.",
        query: &[MODE],
        answers: &[json(200, "The numbers.", "AccountSummary")],
        handler: |call| Box::pin(summary::of_account(call)),
        ..MEMBER
    },
    Route {
        operation: "getSummary",
        path: "/dashboard/api/summary",
        summary: "Counts what waits for an operator, over all accounts.",
        auth: Auth::Session(Role::Operator),
        query: &[MODE],
        answers: &[json(200, "The counts.", "Summary")],
        handler: |call| Box::pin(summary::of_all(call)),
        ..MEMBER
    },
];
