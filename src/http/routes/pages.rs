//! The pages and the files they load: for browsers, so they have no answers that the document could describe.

use crate::http::pages::{self, checkout, link, setup};
use crate::http::request::{Param, ParamKind};
use crate::http::route::{FRAMED_PAGE, Handler, PAGE, PLAIN, Route};

/// The list.
pub(super) static ROUTES: [Route; 8] = [
    Route {
        operation: "checkoutPage",
        path: "/checkout/{id}",
        summary: "The page on which an invoice is paid.",
        query: &[Param {
            name: "token",
            about: "What opens this invoice's checkout.",
            kind: ParamKind::Any,
        }],
        handler: Handler::Open(|call| Box::pin(checkout::show(call))),
        ..FRAMED_PAGE
    },
    Route {
        operation: "checkoutSelect",
        method: "POST",
        path: "/checkout/{id}/select",
        summary: "Picks the coin on that page.",
        handler: Handler::Open(|call| Box::pin(checkout::select(call))),
        ..PAGE
    },
    Route {
        operation: "linkPage",
        path: "/l/{id}",
        summary: "The page of a payment link.",
        handler: Handler::Open(|call| Box::pin(link::show(call))),
        ..PAGE
    },
    Route {
        operation: "linkPay",
        method: "POST",
        path: "/l/{id}",
        summary: "Makes the invoice of a payment link.",
        handler: Handler::Open(|call| Box::pin(link::pay(call))),
        ..PAGE
    },
    Route {
        operation: "setupPage",
        path: "/setup",
        summary: "The page of the link by which the first operator is made.",
        query: &[Param {
            name: "token",
            about: "The token of the link.",
            kind: ParamKind::Any,
        }],
        handler: Handler::Open(|call| Box::pin(setup::show(call))),
        ..PAGE
    },
    Route {
        operation: "setupFinish",
        method: "POST",
        path: "/setup",
        summary: "Makes the first operator.",
        handler: Handler::Open(|call| Box::pin(setup::finish(call))),
        ..PAGE
    },
    Route {
        operation: "style",
        path: "/style.css",
        summary: "The style of the pages.",
        handler: Handler::Open(|call| Box::pin(pages::style(call))),
        ..PLAIN
    },
    Route {
        operation: "widget",
        path: "/widget.js",
        summary: "The script that opens the checkout from a shop's page.",
        handler: Handler::Open(|call| Box::pin(pages::widget(call))),
        ..PLAIN
    },
];
