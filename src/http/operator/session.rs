//! Signs users in to the operator interface, and signs them out.

use crate::domain::user::inputs::SignIn;
use crate::domain::{RefusalCode, SiteUrl, Time};
use crate::http::auth::{check_same_site, cookie_name, session_cookie};
use crate::http::password::{self, ClientIdentity};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Body, Handler, PRIVATE, Resource, Route, RouteAnswer, Tag};
use crate::http::second_factor_code::run_with_code;
use crate::render;
use crate::render::operator::SessionView;
use crate::service::users::members::NewSession;
use crate::service::{Error, Member};
use hyper::StatusCode;
use hyper::header::SET_COOKIE;

/// Routes of the session.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "signIn",
            tag: Some(Tag::OperatorUsers),
            method: "POST",
            path: "/dashboard/api/session",
            summary: "Signs in and sets the session cookie of the operator interface.",
            body: Body::required(&SignIn::COMPONENT),
            answers: &[RouteAnswer::json(
                201,
                "The session, for twelve hours.",
                &SessionView::COMPONENT,
            )],
            refusals: &[
                RefusalCode::InvalidCredentials,
                RefusalCode::SecondFactorRequired,
                RefusalCode::Forbidden,
                RefusalCode::TooManyAttempts,
            ],
            handler: Handler::Open(|call| Box::pin(sign_in(call))),
            ..PRIVATE
        },
        Route {
            operation: "getSession",
            tag: Some(Tag::OperatorUsers),
            path: "/dashboard/api/session",
            summary: "Returns the session's user.",
            answers: &[RouteAnswer::json(200, "The session.", &SessionView::COMPONENT)],
            handler: Handler::Session(|call, member| Box::pin(read_session(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "signOut",
            tag: Some(Tag::OperatorUsers),
            method: "DELETE",
            path: "/dashboard/api/session",
            summary: "Signs out.",
            answers: &[RouteAnswer::empty(204, "Signed out.")],
            handler: Handler::Session(|call, member| Box::pin(sign_out(call, member))),
            ..PRIVATE
        },
    ],
};

/// POST /dashboard/api/session
async fn sign_in(call: Call) -> Result<Reply, Error> {
    check_same_site(&call.http, &call.headers)?;
    let SignIn { email, password, code } = SignIn::read(&call.body_fields()?)?;
    let turn = ClientIdentity::for_client(&call);
    let proven = password::verify_user(&call.http, &turn, &email, password).await?;
    let now = call.now;
    let begun = run_with_code(&call, &turn, proven, code, |service, given| async move {
        service.sign_in(now, given).await
    })
    .await?;
    let (member, end) = (&begun.member, Some(begun.expires_at));
    let session = session_reply(&call, member, end, StatusCode::CREATED)?;
    Ok(with_session_cookie(&call, session, &begun))
}

/// GET /dashboard/api/session
async fn read_session(call: Call, member: Member) -> Result<Reply, Error> {
    session_reply(&call, &member, None, StatusCode::OK)
}

/// DELETE /dashboard/api/session
async fn sign_out(call: Call, _: Member) -> Result<Reply, Error> {
    if let Some(cookie) = session_cookie(&call.http, &call.headers) {
        call.http.service.sign_out(cookie).await?;
        // Streams of the session end now, and not at their next heartbeat.
        call.http.subscribers.resources.wake();
    }
    let clear = cookie_header(&call.http.public_url, "", 0);
    Ok(Reply::no_content().with_header(SET_COOKIE, &clear))
}

/// Adds the header that sets the cookie of a new session.
pub(in crate::http) fn with_session_cookie(call: &Call, reply: Reply, begun: &NewSession) -> Reply {
    let seconds = begun.expires_at.since_ms(call.now) / 1000;
    let set = cookie_header(&call.http.public_url, &begun.cookie, seconds);
    reply.with_header(SET_COOKIE, &set)
}

/// Formats the `Set-Cookie` header of the session, valid for this many seconds.
fn cookie_header(public_url: &str, value: &str, seconds: i64) -> String {
    let name = cookie_name(public_url);
    let is_https = SiteUrl::parse(public_url).is_ok_and(|site| site.is_https());
    let place = if is_https { "Path=/; Secure" } else { "Path=/dashboard" };
    format!("{name}={value}; {place}; Max-Age={seconds}; HttpOnly; SameSite=Strict")
}

/// Returns an answer with the session of the signed-in user.
fn session_reply(
    call: &Call,
    member: &Member,
    expires_at: Option<Time>,
    status: StatusCode,
) -> Result<Reply, Error> {
    let left = call.http.service.unused_recovery_code_count(member)?;
    let (user, account) = (member.user(), member.account_id());
    let json = render::operator::session(user, account, left, expires_at)?;
    Ok(Reply { status, ..Reply::ok(json) })
}
