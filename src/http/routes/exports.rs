//! Exports in the operator interface.

use super::invoice_desk::{FROM, MODE, TO};
use crate::http::dashboard::exports;
use crate::http::route::{Answer, Content, Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 1] = [Route {
    operation: "export",
    path: "/dashboard/api/accounts/{account}/exports/{file}",
    summary: "Sends invoices.csv, payments.csv, ledger.csv, payouts.csv, refunds.csv or deposits.csv, oldest first, however many there are.",
    query: &[MODE, FROM, TO],
    answers: &[Answer {
        status: 200,
        about: "The rows, as CSV with a line of names.",
        content: Content::Csv,
    }],
    handler: Handler::Session(|call, member| Box::pin(exports::export(call, member))),
    ..PRIVATE
}];
