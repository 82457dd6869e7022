//! Reseller tokens of an account: `/dashboard/api/accounts/{account}/reseller-tokens`.

use crate::api::operation::{
    Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::tag::Tag;
use crate::domain::fields::Component;
use crate::domain::{Refusal, RefusalCode, Time, apikey};
use crate::render::tokens::{CreatedResellerTokenView, ResellerTokenView};
use crate::service::{Error, Member, Step, audit_log, keys, reseller};
use crate::store::Tx;
use crate::store::reseller_tokens::{self, TokenRow};
use serde_json::json;

/// Maximum number of valid tokens of an account.
const TOKENS_MAX: i64 = 100;

const TOKEN_LIST: Component = Component::List {
    name: "ResellerTokenList",
    item: &ResellerTokenView::COMPONENT,
    about: "A list of reseller tokens.",
    about_data: "Items of the list, oldest first.",
};

pub const OPERATIONS: [&Operation; 3] = [&LIST, &CREATE, &REVOKE];

const LIST: Operation = Operation {
    id: "listResellerTokens",
    path: "/dashboard/api/accounts/{account}/reseller-tokens",
    tag: Tag::OperatorServers,
    summary: "Lists an account's reseller tokens, oldest first, with their last four characters.",
    answers: &[Answer::ok("The tokens.", &TOKEN_LIST)],
    run: OperationFn::Session(list),
    ..PLAIN
};

const CREATE: Operation = Operation {
    id: "createResellerToken",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/reseller-tokens",
    tag: Tag::OperatorServers,
    summary: "Creates a token of the reseller interface and returns it once.",
    answers: &[Answer::created("The token.", &CreatedResellerTokenView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(create),
    ..PLAIN
};

const REVOKE: Operation = Operation {
    id: "revokeResellerToken",
    method: "DELETE",
    path: "/dashboard/api/accounts/{account}/reseller-tokens/{id}",
    tag: Tag::OperatorServers,
    summary: "Revokes a reseller token at once. Servers ordered with it stay.",
    answers: &[Answer::no_content("Revoked.")],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(revoke),
    ..PLAIN
};

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let rows = context.service.read(|db| Ok(reseller_tokens::of_account(db, account)?))?;
    let views: Vec<ResellerTokenView> = rows.iter().map(token_view).collect();
    Job::list(&views)
}

fn create(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let (now, actor) = (context.now, member.actor());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        if reseller_tokens::count_usable_tokens(tx, account)? >= TOKENS_MAX {
            let message = format!(
                "the account has {TOKENS_MAX} active reseller tokens, the maximum; revoke one first"
            );
            return Err(Refusal::new(RefusalCode::InvalidRequest, message).into());
        }
        let text = keys::random_key(apikey::generate_token)?;
        let id = reseller::insert_token(tx, account, &text, now)?;
        record_action(tx, now, &actor, "reseller_token.create", account, &id)?;
        let token = reseller_tokens::by_id(tx, account, &id)?;
        let token = token.ok_or_else(|| Error::Failed(format!("token {id} is missing")))?;
        Outcome::created(&CreatedResellerTokenView { base: token_view(&token), token: &text })
    })
}

fn revoke(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        if !reseller_tokens::revoke(tx, account, &id, now)? {
            return Err(Refusal::not_found("reseller token").into());
        }
        record_action(tx, now, &actor, "reseller_token.revoke", account, &id)?;
        Ok(Outcome::NOTHING)
    })
}

/// Records an operator's action on a token in the audit log.
fn record_action(
    tx: &Tx<'_>,
    now: Time,
    actor: &str,
    action: &str,
    account: i64,
    id: &str,
) -> Result<(), Error> {
    audit_log::record(tx, now, actor, action, Some(account), Some(id), &json!({}))
}

fn token_view(token: &TokenRow) -> ResellerTokenView<'_> {
    ResellerTokenView {
        id: &token.id,
        last4: &token.last4,
        created_at: token.created_at,
        last_used_at: token.last_used_at,
        revoked_at: token.revoked_at,
    }
}
