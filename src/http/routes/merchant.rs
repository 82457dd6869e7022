//! The merchant's interface: operations under `/v1`.

use crate::domain::event::EventType;
use crate::domain::money::Currency;
use crate::domain::refusal::Code;
use crate::domain::status::InvoiceStatus;
use crate::http::api::{account, events, invoices};
use crate::http::auth::Auth;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, PLAIN, Route};

/// `before` of a page.
const BEFORE: Param = Param {
    name: "before",
    about: "The nextBefore of the previous page: only entries older than it.",
    kind: ParamKind::Id,
};

/// A route that asks for a secret key.
const SECRET: Route = Route {
    auth: Auth::Secret,
    ..PLAIN
};

/// `limit` of a list.
const fn limit(max: u32, default: u32) -> Param {
    Param {
        name: "limit",
        about: "How many at most.",
        kind: ParamKind::Limit { max, default },
    }
}

/// 200 with this schema.
const fn ok(about: &'static str, schema: &'static str) -> Answer {
    Answer {
        status: 200,
        about,
        content: Content::Json(schema),
    }
}

/// The list.
pub(super) static ROUTES: [Route; 11] = [
    Route {
        operation: "createInvoice",
        method: "POST",
        path: "/v1/invoices",
        summary: "Creates an invoice. The same orderId again answers 200 with the invoice as it is now.",
        body: Some(Body {
            schema: "CreateInvoice",
            required: true,
        }),
        answers: &[
            Answer {
                status: 201,
                about: "The invoice was created.",
                content: Content::Json("CreatedInvoice"),
            },
            ok(
                "An invoice with this orderId exists; nothing was changed.",
                "CreatedInvoice",
            ),
        ],
        refusals: &[
            Code::AmountTooLarge,
            Code::AccountNotApproved,
            Code::AccountSuspended,
            Code::IdempotencyConflict,
            Code::RateLimited,
            Code::Maintenance,
        ],
        is_rate_limited: true,
        is_idempotent: true,
        handler: |call| Box::pin(invoices::create(call)),
        ..SECRET
    },
    Route {
        operation: "listInvoices",
        path: "/v1/invoices",
        summary: "Lists invoices, newest first.",
        query: &[
            limit(100, invoices::LIMIT_DEFAULT),
            Param {
                name: "status",
                about: "Only invoices of this status.",
                kind: ParamKind::OneOf(InvoiceStatus::TEXTS),
            },
            Param {
                name: "orderId",
                about: "Only the invoice with this reference.",
                kind: ParamKind::Text { chars_max: 200 },
            },
        ],
        answers: &[ok("The invoices.", "InvoiceList")],
        handler: |call| Box::pin(invoices::list(call)),
        ..SECRET
    },
    Route {
        operation: "getInvoice",
        path: "/v1/invoices/{id}",
        summary: "Reads an invoice; usable for polling where webhooks cannot be received.",
        answers: &[ok("The invoice.", "Invoice")],
        handler: |call| Box::pin(invoices::get(call)),
        ..SECRET
    },
    Route {
        operation: "selectCoin",
        method: "POST",
        path: "/v1/invoices/{id}/select",
        summary: "Picks the coin: locks the rate, claims a deposit address, sets amountExpected.",
        body: Some(Body {
            schema: "SelectCoin",
            required: true,
        }),
        answers: &[ok(
            "The invoice with depositAddress and amountExpected.",
            "Invoice",
        )],
        refusals: &[
            Code::CoinUnavailable,
            Code::PaymentInFlight,
            Code::InvoiceClosed,
        ],
        handler: |call| Box::pin(invoices::select(call)),
        ..SECRET
    },
    Route {
        operation: "simulatePayment",
        method: "POST",
        path: "/v1/invoices/{id}/simulate",
        summary: "Pays a test invoice: status changes, ledger and webhooks as for a real payment.",
        body: Some(Body {
            schema: "SimulatePayment",
            required: false,
        }),
        answers: &[ok("The invoice after the payment.", "Invoice")],
        refusals: &[Code::CoinUnavailable, Code::NotTestInvoice],
        handler: |call| Box::pin(invoices::simulate(call)),
        ..SECRET
    },
    Route {
        operation: "listCurrencies",
        path: "/v1/currencies",
        summary: "Lists every coin on offer with its minimum.",
        answers: &[ok("The coins.", "CurrencyList")],
        handler: |call| Box::pin(invoices::currencies(call)),
        ..SECRET
    },
    Route {
        operation: "getMerchant",
        path: "/v1/merchant",
        summary: "Reads the account, in the mode of the key.",
        answers: &[ok("The account.", "Merchant")],
        handler: |call| Box::pin(account::merchant(call)),
        ..SECRET
    },
    Route {
        operation: "listBalances",
        path: "/v1/balances",
        summary: "Reads both balances, in the mode of the key.",
        answers: &[ok("One balance for each currency.", "BalanceList")],
        handler: |call| Box::pin(account::balances(call)),
        ..SECRET
    },
    Route {
        operation: "listLedger",
        path: "/v1/ledger",
        summary: "Pages through the ledger, newest first.",
        query: &[
            limit(200, account::LIMIT_DEFAULT),
            BEFORE,
            Param {
                name: "currency",
                about: "Only entries in this currency.",
                kind: ParamKind::OneOf(Currency::TEXTS),
            },
        ],
        answers: &[ok("A page of entries.", "LedgerPage")],
        handler: |call| Box::pin(account::ledger(call)),
        ..SECRET
    },
    Route {
        operation: "listEvents",
        path: "/v1/events",
        summary: "Pages through the events, newest first, in the bodies of their webhooks.",
        query: &[
            limit(200, events::LIMIT_DEFAULT),
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
        answers: &[ok("A page of events.", "EventPage")],
        handler: |call| Box::pin(events::list(call)),
        ..SECRET
    },
    Route {
        operation: "getEvent",
        path: "/v1/events/{id}",
        summary: "Reads an event.",
        answers: &[ok("The event.", "Event")],
        handler: |call| Box::pin(events::get(call)),
        ..SECRET
    },
];
