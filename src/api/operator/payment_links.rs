//! Payment links of an account: `/dashboard/api/accounts/{account}/payment-links`.

use crate::api::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::params::MODE;
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::domain::fields::{Component, Schema};
use crate::domain::link::{ChangePaymentLink, CreatePaymentLink, PaymentLink};
use crate::domain::refusal::RefusalCode;
use crate::domain::render::PaymentLinkView;
use crate::service::operator::links::owned_link;
use crate::service::{Error, Member};

/// Default of the parameter `limit`.
const LIMIT_DEFAULT: u32 = 50;

const PAYMENT_LINK_PAGE: Component = Component::Exemplified {
    component: &Component::Page {
        name: "PaymentLinkPage",
        item: &PaymentLinkView::COMPONENT,
        about: ["", "", "", "Value of `before` for the next page; null on the last page."],
        before: &Schema::STRING,
    },
    differs: r#"{
        "data": [{
            "object": "payment_link", "id": "019d9f7b-6a00-7000-8000-000000000002", "name": "A coffee",
            "amount": null, "currency": "EUR", "description": null, "active": true, "livemode": true,
            "url": "https://pay.example.com/l/019d9f7b-6a00-7000-8000-000000000002",
            "createdAt": "2026-11-21T09:30:00.000Z"
        }]
    }"#,
};

pub const OPERATIONS: [&Operation; 4] = [&CREATE, &LIST, &GET, &CHANGE];

const CREATE: Operation = Operation {
    id: "createPaymentLink",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/payment-links",
    tag: Tag::OperatorInvoices,
    summary: "Creates a payment link. Its page creates an invoice in the link's mode for each payer.",
    query: &[MODE],
    body: Body::required(&CreatePaymentLink::COMPONENT),
    answers: &[Answer::created("The link.", &PaymentLinkView::COMPONENT)],
    refusals: &[RefusalCode::AmountTooLarge],
    run: OperationFn::Session(create),
    ..PLAIN
};

const LIST: Operation = Operation {
    id: "listPaymentLinks",
    path: "/dashboard/api/accounts/{account}/payment-links",
    tag: Tag::OperatorInvoices,
    summary: "Returns a page of an account's payment links, newest first.",
    query: &[
        Param::limit(200, LIMIT_DEFAULT),
        Param {
            name: "before",
            about: "Only older links: nextBefore of the previous page.",
            kind: ParamKind::Id,
        },
        MODE,
    ],
    answers: &[Answer::ok("A page of links.", &PAYMENT_LINK_PAGE)],
    run: OperationFn::Session(list),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getPaymentLink",
    path: "/dashboard/api/accounts/{account}/payment-links/{id}",
    tag: Tag::OperatorInvoices,
    summary: "Returns a payment link.",
    query: &[MODE],
    answers: &[Answer::ok("The link.", &PaymentLinkView::COMPONENT)],
    run: OperationFn::Session(get),
    ..PLAIN
};

const CHANGE: Operation = Operation {
    id: "changePaymentLink",
    method: "PATCH",
    path: "/dashboard/api/accounts/{account}/payment-links/{id}",
    tag: Tag::OperatorInvoices,
    summary: "Changes, enables or disables a payment link. Its invoices stay as they are.",
    query: &[MODE],
    body: Body::required(&ChangePaymentLink::COMPONENT),
    answers: &[Answer::ok("The link.", &PaymentLinkView::COMPONENT)],
    refusals: &[RefusalCode::AmountTooLarge],
    run: OperationFn::Session(change_payment_link),
    ..PLAIN
};

fn create(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let body = CreatePaymentLink::read(&context.body_fields()?)?;
    let (now, actor) = (context.now, member.actor());
    let link = PaymentLink::new(body, scope.mode(), now)?;
    Job::write(move |service, tx| {
        let made = service.create_link(tx, now, &scope, &actor, link)?;
        Ok(Outcome::created_resource(made))
    })
}

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let (before, limit) = (context.query.text("before"), context.query.limit(LIMIT_DEFAULT));
    let page = context.service.links(&scope, before, limit)?;
    Ok(Job::Done(Outcome::from_page(page)))
}

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let link = context.service.link(&scope, context.second_param())?;
    Ok(Job::Done(Outcome::resource(link)))
}

fn change_payment_link(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    // An error in the body is returned only if the payment link exists, so this result is checked later.
    let change = ChangePaymentLink::read(&context.body_fields()?);
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::write(move |service, tx| {
        let mut link = owned_link(tx, &scope, &id)?;
        link.apply(change?);
        let changed = service.change_link(tx, now, &actor, &link)?;
        Ok(Outcome::resource(changed))
    })
}
