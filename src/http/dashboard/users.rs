//! Who may sign in: the first operator, other users, one's own password.

use super::aside;
use super::session::slowed_down;
use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::domain::user::{EMAIL_CHARS_MAX, PASSWORD_CHARS_MAX, Role};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::users::{Known, NewUser, UserChange};
use crate::service::{Error, Json};
use hyper::StatusCode;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// POST /dashboard/api/setup
pub(in crate::http) async fn set_up(call: Call) -> Result<Reply, Error> {
    let made = first_operator(&call, &call.object()?).await?;
    answer(StatusCode::CREATED, &made)
}

/// Makes the first operator of a body with `token`, `email` and `password`.
///
/// # Errors
/// `invalid_request`, `forbidden`.
pub(in crate::http) async fn first_operator(
    call: &Call,
    body: &Map<String, Value>,
) -> Result<Known, Error> {
    let fields = Fields::of(body);
    fields.only(&["token", "email", "password"])?;
    let (token, email) = (required(&fields, "token")?, email(&fields)?);
    let password = required(&fields, "password")?;
    let (service, now) = (Arc::clone(&call.front.service), call.now);
    let _alone = call.front.hashing.lock().await;
    aside(move || service.finish_setup(now, &token, &email, &password)).await
}

/// GET /dashboard/api/users
pub(in crate::http) async fn list(call: Call) -> Result<Reply, Error> {
    let users = call.front.service.users()?;
    Reply::list(
        &users
            .iter()
            .map(view)
            .collect::<Result<Vec<Json>, Error>>()?,
    )
}

/// POST /dashboard/api/users
pub(in crate::http) async fn create(call: Call) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["email", "password", "role", "account"])?;
    let role: Option<Role> = fields.choice("role")?;
    let new = NewUser {
        email: email(&fields)?,
        password: required(&fields, "password")?,
        role: role.ok_or_else(|| {
            Refusal::field("role", format!("must be one of {}", Role::TEXTS.join(", ")))
        })?,
        account: fields.text("account", 1..=36)?.map(str::to_owned),
    };
    let (service, now) = (Arc::clone(&call.front.service), call.now);
    let actor = call.member()?.user().email.clone();
    let _alone = call.front.hashing.lock().await;
    let made = aside(move || service.make_user(now, &actor, new)).await?;
    answer(StatusCode::CREATED, &made)
}

/// PATCH /dashboard/api/users/{id}
pub(in crate::http) async fn change(call: Call) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["disabled", "password"])?;
    let wanted = UserChange {
        disabled: fields.flag("disabled")?,
        password: fields
            .text("password", 1..=PASSWORD_CHARS_MAX)?
            .map(str::to_owned),
    };
    let (service, now, id) = (
        Arc::clone(&call.front.service),
        call.now,
        call.uuid("user")?,
    );
    let actor = call.member()?.user().email.clone();
    let _alone = call.front.hashing.lock().await;
    let changed = aside(move || service.change_user(now, &actor, &id, wanted)).await?;
    answer(StatusCode::OK, &changed)
}

/// PUT /dashboard/api/session/password
pub(in crate::http) async fn own_password(call: Call) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["password", "newPassword"])?;
    let old = required(&fields, "password")?;
    let new = required(&fields, "newPassword")?;
    let member = call.member()?.clone();
    let (service, now) = (Arc::clone(&call.front.service), call.now);
    // A stolen session must not try passwords faster than signing in does.
    if let Some(slowed) = slowed_down(&call, &member.user().email) {
        return Ok(slowed);
    }
    let email = member.user().email.clone();
    let _alone = call.front.hashing.lock().await;
    aside(move || service.change_own_password(now, &member, &old, &new)).await?;
    call.front.guessing.succeeded(&email);
    Ok(Reply::nothing())
}

/// A text that must be there.
fn required(fields: &Fields<'_>, name: &str) -> Result<String, Refusal> {
    let text = fields.text(name, 1..=PASSWORD_CHARS_MAX)?;
    text.map(str::to_owned)
        .ok_or_else(|| Refusal::field(name, "must be given"))
}

/// An email that must be there.
fn email(fields: &Fields<'_>) -> Result<String, Refusal> {
    let email = fields.email("email", EMAIL_CHARS_MAX)?;
    email
        .map(str::to_owned)
        .ok_or_else(|| Refusal::field("email", "must be given"))
}

/// A user, as answered.
fn view((user, account): &Known) -> Result<Json, Error> {
    Ok(to_raw_value(&json!({
        "object": "user", "id": user.id, "email": user.email, "role": user.role, "account": account,
        "createdAt": user.created_at, "disabledAt": user.disabled_at,
    }))?)
}

fn answer(status: StatusCode, user: &Known) -> Result<Reply, Error> {
    Ok(Reply {
        status,
        ..Reply::ok(view(user)?)
    })
}
