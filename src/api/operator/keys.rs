//! API keys of an account: `/dashboard/api/accounts/{account}/keys`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::tag::Tag;
use crate::domain::fields::rule::{choice, integer};
use crate::domain::fields::text_rule::text;
use crate::domain::fields::view::OmittedIfNone;
use crate::domain::fields::{Component, input};
use crate::domain::{KeyClass, Mode, Refusal, RefusalCode, apikey};
use crate::render::keys::{CreatedKeyView, KeyView};
use crate::service::keys::{self, OVERLAP_SECONDS_DEFAULT, OVERLAP_SECONDS_MAX};
use crate::service::{Error, Member, Step};
use crate::store::{self, Tx};

input! {
    /// A new key. class is required unless a key is imported.
    pub CreateKey, checked mode, class, import; unknown refused {
        /// Class of the key: secret or public.
        optional class: KeyClass = choice(), "secret";
        /// Mode of the key.
        required mode: Mode = choice(), "test";
        /// Legacy key to import. Operators only.
        optional import: String = text(1..=apikey::IMPORT_CHARS_MAX).with_pattern(18, "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]{16,}$");
    }
}

input! {
    /// Options for rolling a key.
    pub RollKey, checked overlap_seconds; unknown refused {
        /// Time that the old key remains valid, in seconds.
        or(OVERLAP_SECONDS_DEFAULT) overlap_seconds: i64 = integer(0..=OVERLAP_SECONDS_MAX), 3600;
    }
}

const KEY_LIST: Component = Component::List {
    name: "KeyList",
    item: &KeyView::COMPONENT,
    about: "A list of keys.",
    about_data: "Items of the list, oldest first.",
};

pub const OPERATIONS: [&Operation; 4] = [&LIST, &CREATE, &ROLL, &REVOKE];

const LIST: Operation = Operation {
    id: "listKeys",
    path: "/dashboard/api/accounts/{account}/keys",
    tag: Tag::OperatorAccounts,
    summary: "Lists an account's keys of both modes, oldest first, with their last four characters.",
    answers: &[Answer::ok("The keys.", &KEY_LIST)],
    run: OperationFn::Session(list),
    ..PLAIN
};

const CREATE: Operation = Operation {
    id: "createKey",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/keys",
    tag: Tag::OperatorAccounts,
    summary: "Creates a key and returns it once, or imports a legacy key.",
    body: Body::required(&CreateKey::COMPONENT),
    answers: &[Answer::created("The key.", &CreatedKeyView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(create),
    ..PLAIN
};

const ROLL: Operation = Operation {
    id: "rollKey",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/keys/{id}/roll",
    tag: Tag::OperatorAccounts,
    summary: "Creates the successor of a key and returns it once. The old key remains valid for a while.",
    body: Body::optional(&RollKey::COMPONENT),
    answers: &[Answer::created("The key.", &CreatedKeyView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(roll_key),
    ..PLAIN
};

const REVOKE: Operation = Operation {
    id: "revokeKey",
    method: "DELETE",
    path: "/dashboard/api/accounts/{account}/keys/{id}",
    tag: Tag::OperatorAccounts,
    summary: "Revokes a key at once.",
    answers: &[Answer::no_content("Revoked.")],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(revoke_key),
    ..PLAIN
};

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let rows = context.service.read(|db| Ok(store::keys::of_account(db, account)?))?;
    let views: Vec<KeyView> = rows.iter().map(keys::key_view).collect();
    Job::list(&views)
}

fn create(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let CreateKey { class, mode, import } = CreateKey::read(&context.body_fields()?)?;
    let (now, actor, is_operator) = (context.now, member.actor(), member.is_operator());
    Job::write(move |step| {
        let Step { service, tx, .. } = *step;
        let Some(text) = import else {
            let class = class.ok_or_else(|| Refusal::field("class", "must be given"))?;
            let made = keys::create(tx, &actor, account, class, mode, now)?;
            return created_key(tx, &made.id, Some(&made.text));
        };
        if !is_operator {
            let message = "keys are imported by operators only";
            return Err(Refusal::for_param(RefusalCode::Forbidden, "import", message).into());
        }
        if class.is_some_and(|class| class != KeyClass::Legacy) {
            return Err(Refusal::field("class", "must be legacy if a key is imported").into());
        }
        let id = keys::import(tx, service.file_kind(), &actor, account, mode, &text, now)?;
        created_key(tx, &id, None)
    })
}

fn roll_key(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    // An error in the body is returned only if the key is valid, so this result is checked later.
    let input = RollKey::read(&context.body_fields()?);
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let old = keys::find_valid(tx, Some(account), &id, now)?;
        let made = keys::roll(tx, &actor, &old, input?.overlap_seconds, now)?;
        created_key(tx, &made.id, Some(&made.text))
    })
}

fn revoke_key(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        keys::revoke(step.tx, &actor, Some(account), &id, now)?;
        Ok(Outcome::NOTHING)
    })
}

/// Returns an outcome with a new key. `text` is the full key, `None` for an imported key.
fn created_key(tx: &Tx<'_>, id: &str, text: Option<&str>) -> Result<Outcome, Error> {
    let key = store::keys::by_id(tx, id)?;
    let key = key.ok_or_else(|| Error::Failed(format!("key {id} is missing")))?;
    let view = CreatedKeyView { base: keys::key_view(&key), key: OmittedIfNone(text) };
    Outcome::created(&view)
}
