//! The secret that signs deliveries to an invoice's own URL: `/dashboard/api/accounts/{account}/legacy-secret`.

use crate::api::operation::{
    Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::tag::Tag;
use crate::domain::Time;
use crate::render::endpoints::SigningSecretView;
use crate::service::{Error, Member, SECRET_OVERLAP_MS, Step, audit_log, new_secret};
use crate::store::{Tx, accounts};
use serde_json::json;

pub const OPERATIONS: [&Operation; 2] = [&GET, &ROLL];

const GET: Operation = Operation {
    id: "getLegacySecret",
    path: "/dashboard/api/accounts/{account}/legacy-secret",
    tag: Tag::OperatorWebhooks,
    summary: "Returns the secret that signs deliveries to webhookUrl of invoices. The audit log records the reader.",
    answers: &[Answer::ok("The secret.", &SigningSecretView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(get),
    ..PLAIN
};

const ROLL: Operation = Operation {
    id: "rollLegacySecret",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/legacy-secret/roll",
    tag: Tag::OperatorWebhooks,
    summary: "Creates a new legacy secret. The old secret signs too for 24 hours.",
    answers: &[Answer::ok("The secret.", &SigningSecretView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(roll_secret),
    ..PLAIN
};

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let (now, actor) = (context.now, member.actor());
    Job::write(move |step| audit_and_show(step.tx, &actor, "legacy_secret.show", account, now))
}

fn roll_secret(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let (now, actor) = (context.now, member.actor());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let secret = new_secret("legacy_")?;
        accounts::roll_legacy_secret(tx, account, &secret, now.plus_ms(SECRET_OVERLAP_MS))?;
        audit_and_show(tx, &actor, "legacy_secret.roll", account, now)
    })
}

/// Returns the secret, and records the actor's action in the audit log.
fn audit_and_show(
    tx: &Tx<'_>,
    actor: &str,
    action: &str,
    account: i64,
    now: Time,
) -> Result<Outcome, Error> {
    let account = accounts::by_seq(tx, account)?;
    let until = accounts::old_secret_until(tx, account.seq)?;
    audit_log::record(tx, now, actor, action, Some(account.seq), Some(&account.id), &json!({}))?;
    Outcome::ok(&SigningSecretView {
        secret: &account.legacy_secret,
        previous_until: until.filter(|until| now < *until),
    })
}
