//! Confirms and changes a user's own password, and creates the first operator.

use crate::domain::user::inputs::{ChangePassword, ConfirmPassword, SetUp};
use crate::domain::{Refusal, RefusalCode};
use crate::http::operator::session::with_session_cookie;
use crate::http::password::{self, ClientIdentity};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Body, Handler, PRIVATE, Resource, Route, RouteAnswer, Tag};
use crate::http::second_factor_code::run_with_code;
use crate::render;
use crate::render::operator::UserView;
use crate::service::users::FirstOperator;
use crate::service::users::members::NewSession;
use crate::service::{Error, Member};
use hyper::StatusCode;
use serde_json::{Map, Value};

/// Routes of passwords.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "confirmPassword",
            tag: Some(Tag::OperatorUsers),
            method: "POST",
            path: "/dashboard/api/session/confirm",
            summary: "Confirms the user's own password. For the next 15 minutes the session may do sensitive operations.",
            body: Body::required(&ConfirmPassword::COMPONENT),
            answers: &[RouteAnswer::empty(204, "Confirmed.")],
            refusals: &[
                RefusalCode::InvalidCredentials,
                RefusalCode::SecondFactorRequired,
                RefusalCode::TooManyAttempts,
            ],
            handler: Handler::Session(|call, member| Box::pin(confirm_password(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "changeOwnPassword",
            tag: Some(Tag::OperatorUsers),
            method: "PUT",
            path: "/dashboard/api/session/password",
            summary: "Changes the user's own password and ends the user's sessions.",
            body: Body::required(&ChangePassword::COMPONENT),
            answers: &[RouteAnswer::empty(204, "Changed. Sign in again.")],
            refusals: &[
                RefusalCode::InvalidCredentials,
                RefusalCode::SecondFactorRequired,
                RefusalCode::TooManyAttempts,
            ],
            handler: Handler::Session(|call, member| Box::pin(change_own_password(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "setUp",
            tag: Some(Tag::OperatorUsers),
            method: "POST",
            path: "/dashboard/api/setup",
            summary: "Creates the first operator, with the token of the link that the server printed at its start, and signs in.",
            body: Body::required(&SetUp::COMPONENT),
            answers: &[RouteAnswer::json(
                201,
                "The operator, signed in by the session cookie. The link is used up.",
                &UserView::COMPONENT,
            )],
            refusals: &[RefusalCode::Forbidden, RefusalCode::TooManyAttempts],
            handler: Handler::Open(|call| Box::pin(set_up(call))),
            ..PRIVATE
        },
    ],
};

/// POST /dashboard/api/setup
async fn set_up(call: Call) -> Result<Reply, Error> {
    let begun = create_first_operator(&call, &call.body_fields()?).await?;
    let made = Reply::ok(render::operator::user(begun.member.user(), None)?);
    let made = Reply { status: StatusCode::CREATED, ..made };
    Ok(with_session_cookie(&call, made, &begun))
}

/// Creates the first operator from a body with `token`, `email`, `password` and `shop`, and signs the operator in.
///
/// # Errors
/// `invalid_request`, `forbidden`.
pub(in crate::http) async fn create_first_operator(
    call: &Call,
    body: &Map<String, Value>,
) -> Result<NewSession, Error> {
    let SetUp { token, email, password, shop } = SetUp::read(body)?;
    let service = &call.http.service;
    password::check_setup_token(call, &token)?;
    let turn = ClientIdentity::for_client(call);
    let password_hash = password::hash_password(&call.http, &turn, password).await?;
    let real_now = call.http.clock.real_now();
    let first = FirstOperator { token, email, password_hash, shop, client: turn.client, real_now };
    service.create_first_operator(call.now, first).await
}

/// PUT /dashboard/api/session/password
async fn change_own_password(call: Call, member: Member) -> Result<Reply, Error> {
    let ChangePassword { password: old, new_password: new, code } =
        ChangePassword::read(&call.body_fields()?)?;
    let http = &call.http;
    let (turn, email) = (ClientIdentity::for_member(&member), &member.user().email);
    let replaced = password::verify_and_hash_new(http, &turn, email, old, new).await;
    let (proven, hash) = replaced.map_err(with_password_field)?;
    let now = call.now;
    run_with_code(&call, &turn, proven, code, |service, given| async move {
        service.change_own_password(now, given, hash).await
    })
    .await?;
    Ok(Reply::no_content())
}

/// POST /dashboard/api/session/confirm
async fn confirm_password(call: Call, member: Member) -> Result<Reply, Error> {
    let ConfirmPassword { password, code } = ConfirmPassword::read(&call.body_fields()?)?;
    let http = &call.http;
    let (turn, email) = (ClientIdentity::for_member(&member), &member.user().email);
    let proven = password::verify_user(http, &turn, email, password).await;
    let proven = proven.map_err(with_password_field)?;
    let now = call.now;
    run_with_code(&call, &turn, proven, code, |service, given| async move {
        service.confirm_password(now, &member, given).await
    })
    .await?;
    Ok(Reply::no_content())
}

/// Adds the field `password` to the error of a wrong password, because a signed-in user may learn which field is
/// wrong.
fn with_password_field(error: Error) -> Error {
    match error {
        Error::Refused(refusal) if refusal.code == RefusalCode::InvalidCredentials => {
            let message = "password must be your current password";
            Refusal::for_param(RefusalCode::InvalidCredentials, "password", message).into()
        }
        other => other,
    }
}
