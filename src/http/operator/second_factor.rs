//! Turns the second factor of the signed-in user on or off.

use crate::domain::qr::Qr;
use crate::domain::second_factor::CODE_MISSING;
use crate::domain::user::inputs::SecondFactorCode;
use crate::domain::{EnteredCode, Refusal, RefusalCode};
use crate::http::password::ClientIdentity;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{
    Body, Handler, PRIVATE, RecentPassword, Resource, Route, RouteAnswer, Tag,
};
use crate::http::second_factor_code::CodeAttempt;
use crate::render::operator::{NewSecondFactorView, RecoveryCodesView};
use crate::service::{Error, Member};
use hyper::StatusCode;
use serde_json::value::to_raw_value;
use std::sync::Arc;

/// Routes of the user's own second factor.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "beginSecondFactor",
            tag: Some(Tag::OperatorUsers),
            method: "POST",
            path: "/dashboard/api/session/second-factor",
            summary: "Begins the user's own second factor and returns its setup data once. It is not required before it is confirmed.",
            answers: &[RouteAnswer::json(
                201,
                "The setup data, which replaces an unconfirmed one.",
                &NewSecondFactorView::COMPONENT,
            )],
            refusals: &[RefusalCode::InvalidTransition],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(start_setup(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "confirmSecondFactor",
            tag: Some(Tag::OperatorUsers),
            method: "POST",
            path: "/dashboard/api/session/second-factor/confirm",
            summary: "Confirms the user's own second factor by a first code of the app. The user's other sessions end.",
            body: Body::required(&SecondFactorCode::COMPONENT),
            answers: &[RouteAnswer::json(
                200,
                "Recovery codes, shown only here.",
                &RecoveryCodesView::COMPONENT,
            )],
            refusals: &[
                RefusalCode::InvalidCredentials,
                RefusalCode::InvalidTransition,
                RefusalCode::TooManyAttempts,
            ],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(confirm_setup(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "endSecondFactor",
            tag: Some(Tag::OperatorUsers),
            method: "POST",
            path: "/dashboard/api/session/second-factor/off",
            summary: "Turns off the user's own second factor by a code. The recovery codes become invalid.",
            body: Body::required(&SecondFactorCode::COMPONENT),
            answers: &[RouteAnswer::empty(204, "Turned off.")],
            refusals: &[
                RefusalCode::InvalidCredentials,
                RefusalCode::InvalidTransition,
                RefusalCode::TooManyAttempts,
            ],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(turn_off(call, member))),
            ..PRIVATE
        },
    ],
};

/// POST /dashboard/api/session/second-factor
async fn start_setup(call: Call, member: Member) -> Result<Reply, Error> {
    let begun = call.http.service.begin_second_factor(&member).await?;
    let json = to_raw_value(&NewSecondFactorView {
        object: "second_factor",
        secret: &begun.secret,
        uri: &begun.uri,
        qr: Qr::encode(&begun.uri),
    })?;
    Ok(Reply { status: StatusCode::CREATED, ..Reply::ok(json) })
}

/// POST /dashboard/api/session/second-factor/confirm
async fn confirm_setup(call: Call, member: Member) -> Result<Reply, Error> {
    let (code, attempt) = read_code_attempt(&call, &member)?;
    let (http, real_now) = (&call.http, call.http.clock.real_now());
    let (service, now) = (Arc::clone(&http.service), call.now);
    let client = ClientIdentity::for_client(&call).client;
    let confirming =
        async move { service.confirm_second_factor(now, real_now, &member, code, client).await };
    let codes = attempt.run_counted(&http.throttle, confirming).await?;
    Ok(Reply::ok(to_raw_value(&RecoveryCodesView { object: "recovery_codes", codes: &codes })?))
}

/// POST /dashboard/api/session/second-factor/off
async fn turn_off(call: Call, member: Member) -> Result<Reply, Error> {
    let (code, attempt) = read_code_attempt(&call, &member)?;
    let (http, real_now) = (&call.http, call.http.clock.real_now());
    let (service, now) = (Arc::clone(&http.service), call.now);
    let ending = async move { service.end_own_second_factor(now, real_now, &member, code).await };
    attempt.run_counted(&http.throttle, ending).await?;
    Ok(Reply::no_content())
}

/// Parses a body that contains only a second-factor code. Returns the code, and an attempt of the user for counting
/// the check of the code.
fn read_code_attempt(call: &Call, member: &Member) -> Result<(EnteredCode, CodeAttempt), Error> {
    let needed = || Refusal::for_param(RefusalCode::InvalidRequest, "code", CODE_MISSING);
    let code = SecondFactorCode::read(&call.body_fields()?)?.code;
    let code = code.ok_or_else(needed)?;
    let mark = call.http.service.credentials_by_email(&member.user().email)?.credential_snapshot();
    let mark = mark.ok_or_else(|| Refusal::not_found("user"))?;
    let turn = ClientIdentity::for_member(member);
    let attempt = CodeAttempt::new(&call.http, &turn, mark, Some(&code))?;
    Ok((code, attempt))
}
