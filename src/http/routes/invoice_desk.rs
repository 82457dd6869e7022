//! Invoices in the operator interface.

use crate::domain::asset::Mode;
use crate::domain::money::Currency;
use crate::domain::refusal::Code;
use crate::domain::status::InvoiceStatus;
use crate::http::dashboard::invoices;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Content, Handler, PRIVATE, Route};

/// `mode` of the operator interface.
pub(super) const MODE: Param = Param {
    name: "mode",
    about: "Whose data: live or test; live where it is left out.",
    kind: ParamKind::OneOf(Mode::TEXTS),
};

/// `before` of a page.
pub(super) const BEFORE: Param = Param {
    name: "before",
    about: "The nextBefore of the previous page: only entries older than it.",
    kind: ParamKind::Text { chars_max: 80 },
};

/// `currency` of a list.
pub(super) const CURRENCY: Param = Param {
    name: "currency",
    about: "Only in this currency.",
    kind: ParamKind::OneOf(Currency::TEXTS),
};

/// `from` of a span of time.
pub(super) const FROM: Param = Param {
    name: "from",
    about: "Only what was made at this moment or later.",
    kind: ParamKind::Moment,
};

/// `to` of a span of time.
pub(super) const TO: Param = Param {
    name: "to",
    about: "Only what was made before this moment.",
    kind: ParamKind::Moment,
};

/// `limit` of a list.
pub(super) const fn limit(max: u32, default: u32) -> Param {
    Param {
        name: "limit",
        about: "How many at most.",
        kind: ParamKind::Limit { max, default },
    }
}

/// A status with this schema.
pub(super) const fn json(status: u16, about: &'static str, schema: &'static str) -> Answer {
    Answer {
        status,
        about,
        content: Content::Json(schema),
    }
}

/// The list.
pub(super) static ROUTES: [Route; 4] = [
    Route {
        operation: "searchInvoices",
        path: "/dashboard/api/accounts/{account}/invoices",
        summary: "Searches an account's invoices, newest first. One call looks through 50000 of them at most: a page may be short or empty and have more, which nextBefore goes on with.",
        query: &[
            MODE,
            limit(200, invoices::LIMIT_DEFAULT),
            BEFORE,
            Param {
                name: "status",
                about: "Only invoices of this status.",
                kind: ParamKind::OneOf(InvoiceStatus::TEXTS),
            },
            CURRENCY,
            FROM,
            TO,
            Param {
                name: "text",
                about: "A whole id, address or txid names its invoices, and only these are answered. Any other text: only invoices with it in id, orderId, description or customerEmail.",
                kind: ParamKind::Text { chars_max: 200 },
            },
        ],
        answers: &[json(200, "A page of invoices.", "InvoicePage")],
        handler: Handler::Session(|call, member| Box::pin(invoices::search(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "getInvoiceDetail",
        path: "/dashboard/api/accounts/{account}/invoices/{id}",
        summary: "Reads an invoice with its quotes, its payments and the sums that its status follows from.",
        query: &[MODE],
        answers: &[json(200, "All that is known of it.", "InvoiceDetail")],
        handler: Handler::Session(|call, member| Box::pin(invoices::get(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "getInvoiceTimeline",
        path: "/dashboard/api/accounts/{account}/invoices/{id}/timeline",
        summary: "Tells what happened to an invoice, oldest first, and why its status changed, in numbers.",
        query: &[MODE],
        answers: &[json(200, "What happened.", "Timeline")],
        handler: Handler::Session(|call, member| Box::pin(invoices::timeline(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "cancelInvoice",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/invoices/{id}/cancel",
        summary: "Calls an invoice off that is open and has no payment.",
        query: &[MODE],
        answers: &[json(200, "The invoice, cancelled.", "Invoice")],
        refusals: &[Code::InvoiceNotCancellable],
        handler: Handler::Session(|call, member| Box::pin(invoices::cancel(call, member))),
        ..PRIVATE
    },
];
