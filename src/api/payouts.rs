//! Payouts of a shop: `/v1/payouts`.

use super::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use super::tag::Tag;
use super::transfers::{LIMIT, PAYOUT_REFUSALS, get, list};
use crate::domain::TransferKind;
use crate::domain::fields::Component;
use crate::domain::transfer::inputs::CreatePayout;
use crate::render::transfers::PayoutView;
use crate::service::{Caller, Error, Requester};
use std::sync::Arc;

const PAYOUT_LIST: Component = Component::List {
    name: "PayoutList",
    item: &PayoutView::COMPONENT,
    about: "Payouts of the account, newest first.",
    about_data: "Items of the list, newest first.",
};

pub const OPERATIONS: [&Operation; 3] = [&CREATE, &LIST, &GET];

const CREATE: Operation = Operation {
    id: "createPayout",
    method: "POST",
    path: "/v1/payouts",
    tag: Tag::Transfers,
    summary: "Requests a payout of the balance to the account's payout address. Live keys only.",
    body: Body::required(&CreatePayout::COMPONENT),
    answers: &[Answer::created("The payout.", &PayoutView::COMPONENT)],
    refusals: PAYOUT_REFUSALS,
    is_idempotent: true,
    run: OperationFn::Secret(create),
    ..PLAIN
};

const LIST: Operation = Operation {
    id: "listPayouts",
    path: "/v1/payouts",
    tag: Tag::Transfers,
    summary: "Lists payouts, newest first.",
    query: &[LIMIT],
    answers: &[Answer::ok("The payouts.", &PAYOUT_LIST)],
    run: OperationFn::Secret(|context, caller| list(context, caller, TransferKind::Payout)),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getPayout",
    path: "/v1/payouts/{id}",
    tag: Tag::Transfers,
    summary: "Returns a payout.",
    answers: &[Answer::ok("The payout.", &PayoutView::COMPONENT)],
    run: OperationFn::Secret(|context, caller| get(context, caller, TransferKind::Payout)),
    ..PLAIN
};

fn create(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, caller, now) = (Arc::clone(context.service), Arc::clone(caller), context.now);
    Job::wait(async move {
        let requester = Requester::Key(caller.key_id());
        let made = service.create_payout(now, &caller, requester, request);
        made.await.map(Outcome::from_idempotent)
    })
}
