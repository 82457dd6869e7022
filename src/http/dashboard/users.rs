//! Who may sign in: the first operator, other users, one's own password.

use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::user::{EMAIL_CHARS_MAX, PASSWORD_CHARS_MAX, Role};
use crate::http::auth::Operator;
use crate::http::password::{self, Turn};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Member;
use crate::service::users::{Known, NewUser};
use crate::service::{Error, Json};
use hyper::StatusCode;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

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
    let service = &call.front.service;
    password::check_set_up(call, &token)?;
    let hash = password::hash(&call.front, Turn::of_client(call), password).await?;
    service.finish_setup(call.now, token, email, hash).await
}

/// GET /dashboard/api/users
pub(in crate::http) async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    let users = call.front.service.users()?;
    Reply::list(
        &users
            .iter()
            .map(view)
            .collect::<Result<Vec<Json>, Error>>()?,
    )
}

/// POST /dashboard/api/users
pub(in crate::http) async fn create(call: Call, operator: Operator) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["email", "password", "role", "account"])?;
    let role: Option<Role> = fields.choice("role")?;
    let (email, password) = (email(&fields)?, required(&fields, "password")?);
    let new = NewUser {
        email,
        role: role.ok_or_else(|| {
            Refusal::field("role", format!("must be one of {}", Role::TEXTS.join(", ")))
        })?,
        account: fields.text("account", 1..=36)?.map(str::to_owned),
    };
    let turn = Turn::of_member(&operator);
    let hash = password::hash(&call.front, turn, password).await?;
    let (service, actor) = (&call.front.service, operator.actor());
    let made = service.make_user(call.now, actor, new, hash).await?;
    answer(StatusCode::CREATED, &made)
}

/// PATCH /dashboard/api/users/{id}
pub(in crate::http) async fn change(call: Call, operator: Operator) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["disabled", "password"])?;
    let disabled = fields.flag("disabled")?;
    let password = fields.text("password", 1..=PASSWORD_CHARS_MAX)?;
    let id = call.uuid("user")?;
    let hash = match password {
        Some(password) => {
            let turn = Turn::of_member(&operator);
            Some(password::hash(&call.front, turn, password.to_owned()).await?)
        }
        None => None,
    };
    let (service, actor) = (&call.front.service, operator.actor());
    let changed = service
        .change_user(call.now, actor, id, disabled, hash)
        .await?;
    answer(StatusCode::OK, &changed)
}

/// PUT /dashboard/api/session/password
pub(in crate::http) async fn own_password(call: Call, member: Member) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["password", "newPassword"])?;
    let old = required(&fields, "password")?;
    let new = required(&fields, "newPassword")?;
    let email = &member.user().email;
    let replaced = password::replace(&call.front, Turn::of_member(&member), email, old, new).await;
    let (proven, hash) = replaced.map_err(not_the_present_one)?;
    let service = &call.front.service;
    service.change_own_password(call.now, proven, hash).await?;
    Ok(Reply::nothing())
}

/// POST /dashboard/api/session/confirm
pub(in crate::http) async fn confirm_password(call: Call, member: Member) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["password"])?;
    let given = required(&fields, "password")?;
    let proven = password::prove(
        &call.front,
        Turn::of_member(&member),
        &member.user().email,
        given,
    )
    .await;
    let proven = proven.map_err(not_the_present_one)?;
    let (service, real_now) = (&call.front.service, call.front.clock.real_now());
    service.confirm_password(real_now, &member, proven).await?;
    Ok(Reply::nothing())
}

/// Whoever is signed in is told which field is wrong.
fn not_the_present_one(error: Error) -> Error {
    match error {
        Error::Refused(refusal) if refusal.code == Code::InvalidCredentials => {
            let message = "password must be your present password";
            Refusal::of(Code::InvalidCredentials, "password", message).into()
        }
        other => other,
    }
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
