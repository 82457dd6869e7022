//! The merchant's interface: operations under `/v1`.

use crate::domain::event::EventType;
use crate::domain::money::Currency;
use crate::domain::refusal::Code;
use crate::domain::status::InvoiceStatus;
use crate::http::api::{account, events, invoices};
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};

/// `before` of a page.
const BEFORE: Param = Param {
    name: "before",
    about: "The nextBefore of the previous page: only entries older than it.",
    kind: ParamKind::Id,
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
        handler: Handler::Secret(|call, caller| Box::pin(invoices::create(call, caller))),
        ..PRIVATE
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
        handler: Handler::Secret(|call, caller| Box::pin(invoices::list(call, caller))),
        ..PRIVATE
    },
    Route {
        operation: "getInvoice",
        path: "/v1/invoices/{id}",
        summary: "Reads an invoice; usable for polling where webhooks cannot be received.",
        answers: &[ok("The invoice.", "Invoice")],
        handler: Handler::Secret(|call, caller| Box::pin(invoices::get(call, caller))),
        ..PRIVATE
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
        handler: Handler::Secret(|call, caller| Box::pin(invoices::select(call, caller))),
        ..PRIVATE
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
        handler: Handler::Secret(|call, caller| Box::pin(invoices::simulate(call, caller))),
        ..PRIVATE
    },
    Route {
        operation: "listCurrencies",
        path: "/v1/currencies",
        summary: "Lists every coin on offer with its minimum.",
        answers: &[ok("The coins.", "CurrencyList")],
        handler: Handler::Secret(|call, caller| Box::pin(invoices::currencies(call, caller))),
        ..PRIVATE
    },
    Route {
        operation: "getMerchant",
        path: "/v1/merchant",
        summary: "Reads the account, in the mode of the key.",
        answers: &[ok("The account.", "Merchant")],
        handler: Handler::Secret(|call, caller| Box::pin(account::merchant(call, caller))),
        ..PRIVATE
    },
    Route {
        operation: "listBalances",
        path: "/v1/balances",
        summary: "Reads both balances, in the mode of the key.",
        answers: &[ok("One balance for each currency.", "BalanceList")],
        handler: Handler::Secret(|call, caller| Box::pin(account::balances(call, caller))),
        ..PRIVATE
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
        handler: Handler::Secret(|call, caller| Box::pin(account::ledger(call, caller))),
        ..PRIVATE
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
        handler: Handler::Secret(|call, caller| Box::pin(events::list(call, caller))),
        ..PRIVATE
    },
    Route {
        operation: "getEvent",
        path: "/v1/events/{id}",
        summary: "Reads an event.",
        answers: &[ok("The event.", "Event")],
        handler: Handler::Secret(|call, caller| Box::pin(events::get(call, caller))),
        ..PRIVATE
    },
];
