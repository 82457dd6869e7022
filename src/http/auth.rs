//! Who may call a route: said by the route as data, enforced here.

use super::front::Front;
use super::request::header;
use crate::domain::apikey::KeyClass;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::domain::user::Role;
use crate::service::keys::unauthorized;
use crate::service::{Caller, Error, Member};
use hyper::{HeaderMap, Method};
use std::sync::Arc;

/// What the cookie of a session is called over plain http.
const PLAIN_COOKIE: &str = "coffer_session";
/// The same where the public url is https: browsers take it from this host alone, over https alone.
const HOST_COOKIE: &str = "__Host-coffer_session";

/// What the cookie of a session is called where this is the public url.
pub(super) fn cookie_name(public_url: &str) -> &'static str {
    if public_url.starts_with("https://") {
        HOST_COOKIE
    } else {
        PLAIN_COOKIE
    }
}

/// What a route asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Nothing.
    Open,
    /// A secret or legacy key.
    Secret,
    /// A public key, from a page that the account lets use it.
    Public,
    /// Somebody signed in: an operator, or with [`Role::Merchant`] a merchant's user too.
    Session(Role),
    /// A reseller's token.
    Reseller,
    /// The token of `--metrics-token`, where one is set.
    Metrics,
    /// No key, but a caller on this machine that is no foreign page; only there under `coffer sandbox`.
    Sandbox,
}

/// Who was let in.
#[derive(Default)]
pub(super) struct Admitted {
    /// By a key.
    pub(super) caller: Option<Arc<Caller>>,
    /// By a session.
    pub(super) member: Option<Member>,
}

/// Lets a request in or not.
///
/// # Errors
/// `unauthorized`, `wrong_key_type`, `forbidden`.
pub(super) fn admit(
    front: &Front,
    now: Time,
    method: &Method,
    headers: &HeaderMap,
    auth: Auth,
) -> Result<Admitted, Error> {
    match auth {
        Auth::Open => Ok(Admitted::default()),
        Auth::Sandbox => match &front.sandbox {
            Some(sandbox) => {
                sandbox.admit(headers)?;
                Ok(Admitted::default())
            }
            None => Err(Refusal::not_found("path").into()),
        },
        Auth::Secret => {
            let caller = front.service.authenticate(now, presented(headers)?)?;
            match caller.class() {
                KeyClass::Secret | KeyClass::Legacy => Ok(Admitted {
                    caller: Some(caller),
                    member: None,
                }),
                KeyClass::Public => {
                    let message = "a public key opens /v1/public only; use the secret key here";
                    Err(Refusal::new(Code::WrongKeyType, message).into())
                }
            }
        }
        Auth::Public => {
            let caller = front.service.authenticate(now, presented(headers)?)?;
            if caller.class() != KeyClass::Public {
                let message = "this takes a public key only; keep the secret one on your server";
                return Err(Refusal::new(Code::WrongKeyType, message).into());
            }
            if let Some(origin) = header(headers, "origin")? {
                front.service.admit_origin(&caller, origin)?;
            }
            Ok(Admitted {
                caller: Some(caller),
                member: None,
            })
        }
        Auth::Reseller => {
            let token = bearer(headers)?
                .ok_or_else(|| unauthorized("send the token as Authorization: Bearer <token>"))?;
            Ok(Admitted {
                caller: Some(front.service.authenticate_reseller(now, token)?),
                member: None,
            })
        }
        Auth::Metrics => metrics(front, headers).map(|()| Admitted::default()),
        Auth::Session(role) => Ok(Admitted {
            caller: None,
            member: Some(member(front, now, method, headers, role)?),
        }),
    }
}

/// Who is signed in, where that is an operator or this role does not ask for one.
fn member(
    front: &Front,
    now: Time,
    method: &Method,
    headers: &HeaderMap,
    role: Role,
) -> Result<Member, Error> {
    if method != Method::GET {
        same_site(front, headers)?;
    }
    let cookie = cookie(front, headers)
        .ok_or_else(|| unauthorized("sign in first: POST /dashboard/api/session"))?;
    let member = front.service.member(now, cookie)?;
    if role == Role::Operator && !member.is_operator() {
        return Err(Refusal::new(Code::Forbidden, "this is for operators").into());
    }
    Ok(member)
}

/// Asks for the token of the metrics, where one is set.
fn metrics(front: &Front, headers: &HeaderMap) -> Result<(), Error> {
    let Some(token) = &front.metrics_token else {
        return Ok(());
    };
    if bearer(headers)?.is_some_and(|text| token.is(text)) {
        return Ok(());
    }
    let message = "send the token of --metrics-token as Authorization: Bearer <token>";
    Err(unauthorized(message).into())
}

/// Refuses what a page of another site sends; programs that are no browsers send neither header.
///
/// # Errors
/// `forbidden`.
pub(super) fn same_site(front: &Front, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text("host").unwrap_or_default();
    let public = front.public_url.as_str();
    let is_own = |origin: &str| {
        origin.eq_ignore_ascii_case(public)
            || origin
                .split_once("://")
                .is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(host))
    };
    let foreign_origin = headers.contains_key("origin") && !text("origin").is_some_and(is_own);
    let cross_site =
        text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    if foreign_origin || cross_site {
        let message = "Origin must be the service's own: pages of other sites may not do this";
        return Err(Refusal::new(Code::Forbidden, message));
    }
    Ok(())
}

/// The session's cookie.
pub(super) fn cookie<'a>(front: &Front, headers: &'a HeaderMap) -> Option<&'a str> {
    let wanted = cookie_name(&front.public_url);
    let lines = headers.get_all("cookie").iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == wanted)
        .map(|(_, value)| value)
}

/// The key in the request's headers; where both carry one, it must be the same.
pub(super) fn presented(headers: &HeaderMap) -> Result<&str, Refusal> {
    let by_header =
        header(headers, "X-API-Key").map_err(|refusal| unauthorized(&refusal.message))?;
    match (by_header, bearer(headers)?) {
        (Some(one), Some(other)) if one != other => Err(unauthorized(
            "X-API-Key and Authorization carry different keys; send one",
        )),
        (Some(key), _) | (None, Some(key)) => Ok(key),
        (None, None) => Err(unauthorized(
            "an API key is needed, in X-API-Key or as Authorization: Bearer",
        )),
    }
}

/// What `Authorization: Bearer` carries, where it is there.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let text =
        header(headers, "Authorization").map_err(|refusal| unauthorized(&refusal.message))?;
    match text.map(|text| text.split_once(' ')) {
        None => Ok(None),
        Some(Some((scheme, key))) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(key.trim())),
        Some(_) => Err(unauthorized("Authorization must be \"Bearer <key>\"")),
    }
}
