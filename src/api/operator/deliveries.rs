//! Webhook deliveries of an account: `/dashboard/api/accounts/{account}/deliveries`.

use crate::api::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::params::{BEFORE, MODE};
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::domain::fields::{Component, Fields, Schema};
use crate::domain::{DeliveryState, RefusalCode};
use crate::render::deliveries::{DeliveryDetailView, DeliveryView, ResentView};
use crate::service::webhooks::resending::{DeliveryListQuery, Resend};
use crate::service::{Error, Member};
use std::sync::Arc;

/// Default of the parameter `limit`.
const LIMIT_DEFAULT: u32 = 50;

const DELIVERY_PAGE: Component = Component::Page {
    name: "DeliveryPage",
    item: &DeliveryView::COMPONENT,
    about: [
        "One page of an account's deliveries, newest first.",
        "The deliveries of this page, newest first.",
        "Whether older deliveries follow.",
        "Value of `before` for the next page; null on the last page.",
    ],
    before: &Schema::STRING,
};

pub const OPERATIONS: [&Operation; 4] = [&LIST, &GET, &RESEND, &RESEND_SINCE];

const LIST: Operation = Operation {
    id: "listDeliveries",
    path: "/dashboard/api/accounts/{account}/deliveries",
    tag: Tag::OperatorWebhooks,
    summary: "Returns a page of an account's webhook deliveries, newest first, each with its newest attempts.",
    query: &[
        MODE,
        Param::limit(100, LIMIT_DEFAULT),
        BEFORE,
        Param {
            name: "endpoint",
            about: "Only deliveries to the endpoint with this id.",
            kind: ParamKind::Uuid,
        },
        Param {
            name: "state",
            about: "Only deliveries in this state.",
            kind: ParamKind::OneOf(DeliveryState::TEXTS),
        },
        Param {
            name: "event",
            about: "Only deliveries of the event with this id.",
            kind: ParamKind::Id,
        },
    ],
    answers: &[Answer::ok("A page of deliveries.", &DELIVERY_PAGE)],
    run: OperationFn::Session(list),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getDelivery",
    path: "/dashboard/api/accounts/{account}/deliveries/{id}",
    tag: Tag::OperatorWebhooks,
    summary: "Returns a webhook delivery with its body, and with the headers of its newest attempts.",
    query: &[MODE],
    answers: &[Answer::ok("The delivery.", &DeliveryDetailView::COMPONENT)],
    run: OperationFn::Session(get),
    ..PLAIN
};

const RESEND: Operation = Operation {
    id: "resendDelivery",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/deliveries/{id}/resend",
    tag: Tag::OperatorWebhooks,
    summary: "Sends a delivery again: a new round of attempts, to the endpoint's present URL. A delivery with 1000 attempts is refused.",
    query: &[MODE],
    answers: &[Answer::ok("The delivery, due now.", &DeliveryView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition],
    run: OperationFn::Session(resend),
    ..PLAIN
};

const RESEND_SINCE: Operation = Operation {
    id: "resendSince",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/resend",
    tag: Tag::OperatorWebhooks,
    summary: "Sends again every delivery of the events since a time, including delivered ones. It skips deleted endpoints and deliveries with 1000 attempts.",
    query: &[MODE],
    body: Body::required(&Resend::COMPONENT),
    answers: &[Answer::ok("Number of deliveries that are sent again.", &ResentView::COMPONENT)],
    run: OperationFn::Session(resend_since),
    ..PLAIN
};

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (scope, query) = (context.scope(member)?, context.query);
    let wanted = DeliveryListQuery {
        endpoint: query.text("endpoint").map(str::to_owned),
        state: query.enum_value("state")?,
        event: query.text("event").map(str::to_owned),
        before: query.text("before").map(str::to_owned),
        limit: query.limit(LIMIT_DEFAULT),
    };
    Job::read(move |service| {
        let page = service.account_deliveries(&scope, &wanted)?;
        Ok(Outcome::from_page(page))
    })
}

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let delivery = context.service.delivery_detail(&scope, context.second_param())?;
    Ok(Job::Done(Outcome::resource(delivery)))
}

fn resend(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (scope, service) = (context.scope(member)?, Arc::clone(context.service));
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::wait(async move {
        let resent = service.resend_delivery(now, &scope, &actor, &id).await?;
        Ok(Outcome::resource(resent))
    })
}

fn resend_since(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (scope, service) = (context.scope(member)?, Arc::clone(context.service));
    let (now, actor) = (context.now, member.actor());
    let body = context.body_fields()?;
    // The error for an unknown field lists the known fields in this order, which differs from the order in the
    // OpenAPI document.
    Fields::new(&body).refuse_unknown(&["endpoint", "since"])?;
    let body = Resend::read(&body)?;
    Job::wait(async move {
        let resent = service.resend_deliveries_since(now, &scope, &actor, &body).await?;
        Ok(Outcome::resource(resent))
    })
}
