//! Deliveries in the operator interface: listing, reading, and sending again.

use crate::api::params::{BEFORE, MODE};
use crate::domain::event::DeliveryState;
use crate::domain::refusal::Code;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Body, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::operator::deliveries::DeliveriesWanted;
use crate::service::{Error, Member};
use std::sync::Arc;

/// `limit` where none is given.
const LIMIT_DEFAULT: u32 = 50;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listDeliveries",
            tag: Some(Tag::OperatorWebhooks),
            path: "/dashboard/api/accounts/{account}/deliveries",
            summary: "Pages through an account's webhook deliveries, newest first, each with its newest attempts.",
            query: &[
                MODE,
                Param::limit(100, LIMIT_DEFAULT),
                BEFORE,
                Param {
                    name: "endpoint",
                    about: "Only those to the endpoint with this id.",
                    kind: ParamKind::Uuid,
                },
                Param {
                    name: "state",
                    about: "Only those with this status.",
                    kind: ParamKind::OneOf(DeliveryState::TEXTS),
                },
                Param {
                    name: "event",
                    about: "Only those of the event with this id.",
                    kind: ParamKind::Id,
                },
            ],
            answers: &[Answer::json(200, "A page of deliveries.", "DeliveryPage")],
            handler: Handler::Session(|call, member| Box::pin(list(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getDelivery",
            tag: Some(Tag::OperatorWebhooks),
            path: "/dashboard/api/accounts/{account}/deliveries/{id}",
            summary: "Reads a webhook delivery: the body that is sent, and each of its newest attempts with its headers as they were sent.",
            query: &[MODE],
            answers: &[Answer::json(200, "The delivery.", "DeliveryDetail")],
            handler: Handler::Session(|call, member| Box::pin(get(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "resendDelivery",
            tag: Some(Tag::OperatorWebhooks),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/deliveries/{id}/resend",
            summary: "Sends a delivery again, whatever came of it so far: a new round of attempts, to where its endpoint is now. One that was tried 1000 times is refused.",
            query: &[MODE],
            answers: &[Answer::json(200, "The delivery, due at once.", "Delivery")],
            refusals: &[Code::InvalidTransition],
            handler: Handler::Session(|call, member| Box::pin(resend(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "resendSince",
            tag: Some(Tag::OperatorWebhooks),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/resend",
            summary: "Sends again every delivery of the events since a time, delivered ones too, but none to an endpoint that is gone, and none that was tried 1000 times.",
            query: &[MODE],
            body: Some(Body::required("Resend")),
            answers: &[Answer::json(200, "How many are sent again.", "Resent")],
            handler: Handler::Session(|call, member| Box::pin(resend_since(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts/{account}/deliveries
async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let wanted = DeliveriesWanted {
        endpoint: call.query.text("endpoint").map(str::to_owned),
        state: call.query.choice("state")?,
        event: call.query.text("event").map(str::to_owned),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    let service = Arc::clone(&call.front.service);
    let read = move || service.account_deliveries(&scope, &wanted);
    Reply::page(&call.long_read(&member, read).await?)
}

/// GET /dashboard/api/accounts/{account}/deliveries/{id}
async fn get(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let service = &call.front.service;
    Ok(Reply::ok(service.delivery_detail(&scope, call.second())?))
}

/// POST /dashboard/api/accounts/{account}/deliveries/{id}/resend
async fn resend(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    service
        .resend(call.now, &scope, actor, call.second())
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/accounts/{account}/resend
async fn resend_since(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    service
        .resend_since(call.now, &scope, actor, &body)
        .await
        .map(Reply::ok)
}
