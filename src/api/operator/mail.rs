//! E-mail: the messages that the signed-in user wants, `/dashboard/api/mail`, and the receipts of an account,
//! `/dashboard/api/accounts/{account}/receipts`.

use crate::api::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::tag::Tag;
use crate::domain::mail::{SetMailPreferences, SetReceipts};
use crate::render::mail::{MailPreferencesView, ReceiptsView};
use crate::service::{Error, Member, Step};
use std::sync::Arc;

pub const OPERATIONS: [&Operation; 4] = [&GET, &SET, &GET_RECEIPTS, &SET_RECEIPTS];

const PREFERENCES: Answer =
    Answer::ok("The messages that the user wants.", &MailPreferencesView::COMPONENT);
const RECEIPTS: Answer = Answer::ok("The receipts of the account.", &ReceiptsView::COMPONENT);

const GET: Operation = Operation {
    id: "getMailPreferences",
    path: "/dashboard/api/mail",
    tag: Tag::OperatorUsers,
    summary: "Returns the messages that the user wants by e-mail.",
    answers: &[PREFERENCES],
    run: OperationFn::Session(get),
    ..PLAIN
};

const SET: Operation = Operation {
    id: "setMailPreferences",
    method: "PUT",
    path: "/dashboard/api/mail",
    tag: Tag::OperatorUsers,
    summary: "Changes the messages that the user wants by e-mail. Absent fields stay as they are.",
    body: Body::required(&SetMailPreferences::COMPONENT),
    answers: &[PREFERENCES],
    run: OperationFn::Session(set),
    ..PLAIN
};

const GET_RECEIPTS: Operation = Operation {
    id: "getReceipts",
    path: "/dashboard/api/accounts/{account}/receipts",
    tag: Tag::OperatorAccounts,
    summary: "Returns whether payers of the account get receipts by e-mail.",
    answers: &[RECEIPTS],
    run: OperationFn::Session(get_receipts),
    ..PLAIN
};

const SET_RECEIPTS: Operation = Operation {
    id: "setReceipts",
    method: "PUT",
    path: "/dashboard/api/accounts/{account}/receipts",
    tag: Tag::OperatorAccounts,
    summary: "Switches the receipts for payers of the account on or off.",
    body: Body::required(&SetReceipts::COMPONENT),
    answers: &[RECEIPTS],
    run: OperationFn::Session(set_receipts),
    ..PLAIN
};

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    Outcome::ok(&context.service.mail_preferences(member)?).map(Job::Done)
}

fn set(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let changes = SetMailPreferences::read(&context.body_fields()?)?;
    let (service, member) = (Arc::clone(context.service), member.clone());
    Job::wait(async move { Outcome::ok(&service.set_mail_preferences(member, changes).await?) })
}

fn get_receipts(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (account, now) = (context.scope(member)?.account(), context.now);
    let view = context.service.read(|db| context.service.receipts_view(db, account, now))?;
    Outcome::ok(&view).map(Job::Done)
}

fn set_receipts(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let enabled = SetReceipts::read(&context.body_fields()?)?.enabled;
    let (now, actor) = (context.now, member.actor());
    Job::write(move |step| {
        let Step { service, tx, .. } = *step;
        Outcome::ok(&service.set_receipts(tx, &actor, account, enabled, now)?)
    })
}
