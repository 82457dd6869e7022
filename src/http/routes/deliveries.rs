//! Deliveries in the operator interface.

use super::invoice_desk::{BEFORE, MODE, json, limit};
use crate::domain::event::DeliveryState;
use crate::domain::refusal::Code;
use crate::http::dashboard::deliveries;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Body, Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 3] = [
    Route {
        operation: "listDeliveries",
        path: "/dashboard/api/accounts/{account}/deliveries",
        summary: "Pages through an account's webhook deliveries, newest first, each with its attempts.",
        query: &[
            MODE,
            limit(100, deliveries::LIMIT_DEFAULT),
            BEFORE,
            Param {
                name: "endpoint",
                about: "Only those to the endpoint with this id.",
                kind: ParamKind::Uuid,
            },
            Param {
                name: "state",
                about: "Only those that stand here.",
                kind: ParamKind::OneOf(DeliveryState::TEXTS),
            },
            Param {
                name: "event",
                about: "Only those of the event with this id.",
                kind: ParamKind::Id,
            },
        ],
        answers: &[json(200, "A page of deliveries.", "DeliveryPage")],
        handler: Handler::Session(|call, member| Box::pin(deliveries::list(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "resendDelivery",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/deliveries/{id}/resend",
        summary: "Sends a delivery again, whatever came of it so far: a new round of attempts, to where its endpoint is now.",
        query: &[MODE],
        answers: &[json(200, "The delivery, due at once.", "Delivery")],
        refusals: &[Code::InvalidTransition],
        handler: Handler::Session(|call, member| Box::pin(deliveries::resend(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "resendSince",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/resend",
        summary: "Sends again every delivery of the events since a time, delivered ones too, but none to an endpoint that is gone.",
        query: &[MODE],
        body: Some(Body {
            schema: "Resend",
            required: true,
        }),
        answers: &[json(200, "How many are sent again.", "Resent")],
        handler: Handler::Session(|call, member| Box::pin(deliveries::resend_since(call, member))),
        ..PRIVATE
    },
];
