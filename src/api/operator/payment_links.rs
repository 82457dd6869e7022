//! Payment links of an account: `/dashboard/api/accounts/{account}/payment-links`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, Upload,
};
use crate::api::params::MODE;
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::domain::fields::{Component, Schema};
use crate::domain::link::{ChangePaymentLink, CreatePaymentLink};
use crate::domain::picture::PICTURE_BYTES_MAX;
use crate::domain::{PaymentLink, Picture, PictureFormat, RefusalCode};
use crate::render::{InvoiceView, PaymentLinkView};
use crate::service::idempotency::IdempotentResponse;
use crate::service::links::editing::{
    change_link, create_link, owned_link, remove_link_picture, set_link_picture,
};
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
            "createdAt": "2026-11-21T09:30:00.000Z", "state": "open", "expiresAt": null, "paidUsesMax": null,
            "paidUses": 3, "unconfirmedUses": 0, "redirectUrl": null, "pictureUrl": null
        }]
    }"#,
};

const PAID_INVOICES: Component = Component::List {
    name: "PaidInvoices",
    item: &InvoiceView::COMPONENT,
    about: "Paid invoices of a payment link.",
    about_data: "At most 100 invoices, the one that was paid last first.",
};

/// Largest number of paid invoices in one answer.
const PAID_INVOICES_MAX: u32 = 100;

pub const OPERATIONS: [&Operation; 7] =
    [&CREATE, &LIST, &GET, &CHANGE, &LIST_PAID_INVOICES, &SET_PICTURE, &REMOVE_PICTURE];

const CREATE: Operation = Operation {
    id: "createPaymentLink",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/payment-links",
    tag: Tag::OperatorInvoices,
    summary: "Creates a payment link. Its page creates an invoice in the link's mode for each payer.",
    query: &[MODE],
    body: Body::required(&CreatePaymentLink::COMPONENT),
    answers: &[Answer::created("The link.", &PaymentLinkView::COMPONENT)],
    refusals: &[RefusalCode::AmountTooLarge, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
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

const LIST_PAID_INVOICES: Operation = Operation {
    id: "listPaidInvoicesOfLink",
    path: "/dashboard/api/accounts/{account}/payment-links/{id}/paid-invoices",
    tag: Tag::OperatorInvoices,
    summary: "Returns the invoices of a payment link that are paid, the one that was paid last first. Beyond paidUsesMax are the first paidUses - paidUsesMax of them.",
    query: &[MODE],
    answers: &[Answer::ok("The invoices.", &PAID_INVOICES)],
    run: OperationFn::Session(list_paid_invoices),
    ..PLAIN
};

const SET_PICTURE: Operation = Operation {
    id: "setPaymentLinkPicture",
    method: "PUT",
    path: "/dashboard/api/accounts/{account}/payment-links/{id}/picture",
    tag: Tag::OperatorInvoices,
    summary: "Sets the picture of a payment link. The body is the file: a still PNG, JPEG or WebP of at most 102400 bytes and 2048 pixels on each side. Comments and locations in it are removed.",
    query: &[MODE],
    upload: Some(Upload {
        bytes_max: PICTURE_BYTES_MAX,
        media_types: &[
            PictureFormat::Png.media_type(),
            PictureFormat::Jpeg.media_type(),
            PictureFormat::Webp.media_type(),
        ],
    }),
    answers: &[Answer::ok("The link.", &PaymentLinkView::COMPONENT)],
    run: OperationFn::Session(set_picture),
    ..PLAIN
};

const REMOVE_PICTURE: Operation = Operation {
    id: "removePaymentLinkPicture",
    method: "DELETE",
    path: "/dashboard/api/accounts/{account}/payment-links/{id}/picture",
    tag: Tag::OperatorInvoices,
    summary: "Removes the picture of a payment link, if it has one.",
    query: &[MODE],
    answers: &[Answer::ok("The link.", &PaymentLinkView::COMPONENT)],
    run: OperationFn::Session(remove_picture),
    ..PLAIN
};

fn create(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let request = context.idempotent_request(context.body_fields()?)?;
    let body = CreatePaymentLink::read(&request.body)?;
    let (now, actor) = (context.now, member.actor());
    let link = PaymentLink::new(body, scope.mode(), now)?;
    Job::write(move |step| {
        let made = request.run_once(step, scope, || {
            let json = create_link(step, &scope, &actor, link)?;
            Ok(IdempotentResponse::created(json))
        });
        made.map(Outcome::from_idempotent)
    })
}

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let before = context.query.text("before").map(str::to_owned);
    let (now, limit) = (context.now, context.query.limit(LIMIT_DEFAULT));
    // A link may have very many uses to count.
    Job::read(move |service| {
        let page = service.links(&scope, now, before.as_deref(), limit)?;
        Ok(Outcome::from_page(page))
    })
}

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let (now, id) = (context.now, context.second_param().to_owned());
    Job::read(move |service| Ok(Outcome::resource(service.link(&scope, now, &id)?)))
}

fn change_payment_link(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    // An error in the body is returned only if the payment link exists, so this result is checked later.
    let change = ChangePaymentLink::read(&context.body_fields()?);
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        let mut link = owned_link(step.tx, &scope, &id)?;
        link.apply(change?, now)?;
        let changed = change_link(step, &actor, &link)?;
        Ok(Outcome::resource(changed))
    })
}

fn list_paid_invoices(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let id = context.second_param();
    Job::list(&context.service.paid_link_invoices(&scope, id, PAID_INVOICES_MAX)?)
}

fn set_picture(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    // An error in the picture is returned only if the payment link exists, so this result is checked later.
    let picture = Picture::read(context.body);
    let (actor, id) = (member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        let link = set_link_picture(step, &scope, &actor, &id, picture)?;
        Ok(Outcome::resource(link))
    })
}

fn remove_picture(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let (actor, id) = (member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        let link = remove_link_picture(step, &scope, &actor, &id)?;
        Ok(Outcome::resource(link))
    })
}
