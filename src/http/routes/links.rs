//! Payment links: the operator interface's operations on them.

use crate::domain::asset::Mode;
use crate::domain::refusal::Code;
use crate::http::dashboard::links;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};

/// `mode` of the operator interface.
const MODE: Param = Param {
    name: "mode",
    about: "Whose data: live or test; live where it is left out.",
    kind: ParamKind::OneOf(Mode::TEXTS),
};

/// A status with this schema.
const fn json(status: u16, about: &'static str, schema: &'static str) -> Answer {
    Answer {
        status,
        about,
        content: Content::Json(schema),
    }
}

/// A body that must be there.
const fn body(schema: &'static str) -> Option<Body> {
    Some(Body {
        schema,
        required: true,
    })
}

/// The list.
pub(super) static ROUTES: [Route; 4] = [
    Route {
        operation: "createPaymentLink",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/payment-links",
        summary: "Makes a payment link: whoever opens its url makes an invoice, of the link's mode, and pays it.",
        query: &[MODE],
        body: body("CreatePaymentLink"),
        answers: &[json(201, "The link.", "PaymentLink")],
        refusals: &[Code::AmountTooLarge],
        handler: Handler::Session(|call, member| Box::pin(links::create(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "listPaymentLinks",
        path: "/dashboard/api/accounts/{account}/payment-links",
        summary: "Pages through an account's payment links, newest first.",
        query: &[
            Param {
                name: "limit",
                about: "How many at most.",
                kind: ParamKind::Limit {
                    max: 200,
                    default: links::LIMIT_DEFAULT,
                },
            },
            Param {
                name: "before",
                about: "The nextBefore of the previous page: only links older than it.",
                kind: ParamKind::Id,
            },
            MODE,
        ],
        answers: &[json(200, "A page of links.", "PaymentLinkPage")],
        handler: Handler::Session(|call, member| Box::pin(links::list(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "getPaymentLink",
        path: "/dashboard/api/accounts/{account}/payment-links/{id}",
        summary: "Reads a payment link.",
        query: &[MODE],
        answers: &[json(200, "The link.", "PaymentLink")],
        handler: Handler::Session(|call, member| Box::pin(links::get(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "changePaymentLink",
        method: "PATCH",
        path: "/dashboard/api/accounts/{account}/payment-links/{id}",
        summary: "Changes a payment link, or switches it off or on; invoices that it made stay as they are.",
        query: &[MODE],
        body: body("ChangePaymentLink"),
        answers: &[json(200, "The link.", "PaymentLink")],
        refusals: &[Code::AmountTooLarge],
        handler: Handler::Session(|call, member| Box::pin(links::change(call, member))),
        ..PRIVATE
    },
];
