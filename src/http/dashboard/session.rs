//! Signing in and out.

use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::domain::time::Time;
use crate::domain::user::EMAIL_CHARS_MAX;
use crate::http::auth::{cookie, cookie_name, same_site};
use crate::http::password::{self, Turn};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::{Error, Member};
use hyper::StatusCode;
use hyper::header::SET_COOKIE;
use serde_json::json;

/// POST /dashboard/api/session
pub(in crate::http) async fn sign_in(call: Call) -> Result<Reply, Error> {
    same_site(&call.front, &call.headers)?;
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["email", "password"])?;
    let email = fields
        .text("email", 1..=EMAIL_CHARS_MAX)?
        .ok_or_else(|| Refusal::field("email", "must be given"))?
        .to_owned();
    let password = fields
        .text("password", 0..=1000)?
        .ok_or_else(|| Refusal::field("password", "must be given"))?
        .to_owned();
    let front = &call.front;
    let proven = password::prove(front, Turn::of_client(&call), &email, password).await?;
    let begun = front
        .service
        .sign_in(call.now, front.clock.real_now(), proven)
        .await?;
    let seconds = begun.expires_at.since_ms(call.now) / 1000;
    let set = cookie_of(&front.public_url, &begun.cookie, seconds);
    Ok(session(&begun.member, Some(begun.expires_at), StatusCode::CREATED).with(SET_COOKIE, &set))
}

/// GET /dashboard/api/session
pub(in crate::http) async fn read(_: Call, member: Member) -> Result<Reply, Error> {
    Ok(session(&member, None, StatusCode::OK))
}

/// DELETE /dashboard/api/session
pub(in crate::http) async fn sign_out(call: Call, _: Member) -> Result<Reply, Error> {
    if let Some(cookie) = cookie(&call.front, &call.headers) {
        call.front.service.sign_out(cookie).await?;
    }
    let clear = cookie_of(&call.front.public_url, "", 0);
    Ok(Reply::nothing().with(SET_COOKIE, &clear))
}

/// The cookie for so many seconds.
fn cookie_of(public_url: &str, value: &str, seconds: i64) -> String {
    let name = cookie_name(public_url);
    let place = if public_url.starts_with("https://") {
        "Path=/; Secure"
    } else {
        "Path=/dashboard"
    };
    format!("{name}={value}; {place}; Max-Age={seconds}; HttpOnly; SameSite=Strict")
}

/// Who is signed in.
fn session(member: &Member, expires_at: Option<Time>, status: StatusCode) -> Reply {
    let user = member.user();
    let mut body = json!({
        "object": "session",
        "user": { "id": user.id, "email": user.email, "role": user.role, "account": member.account_id() },
    });
    if let (Some(fields), Some(at)) = (body.as_object_mut(), expires_at) {
        fields.insert("expiresAt".to_owned(), json!(at));
    }
    Reply::json(status, body.to_string())
}
