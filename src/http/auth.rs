//! Who may call a route.
//!
//! What lives here: what a request has to prove, and the types of the proofs. What does not: which proof a route
//! asks for, which is the type of its handler (`route`). What always holds: a proof is made only here, from what a
//! request carries.

use super::front::Front;
use super::front::sandbox::Sandbox;
use super::request::header;
use crate::domain::apikey::KeyClass;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::url::Site;
use crate::domain::user::Role;
use crate::service::keys::unauthorized;
use crate::service::{Caller, Error, Member, Scope};
use hyper::{HeaderMap, Method};
use std::ops::Deref;
use std::sync::Arc;

/// What the cookie of a session is called over plain http.
const PLAIN_COOKIE: &str = "coffer_session";
/// The same where the public url is https: browsers take it from this host alone, over https alone.
const HOST_COOKIE: &str = "__Host-coffer_session";

/// What the cookie of a session is called where this is the public url.
pub(super) fn cookie_name(public_url: &str) -> &'static str {
    if Site::parse(public_url).is_ok_and(|site| site.is_https()) {
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

/// The key that a page may use.
pub(super) struct PublicKey(Arc<Caller>);

/// A reseller, told by the token.
pub(super) struct Reseller(Scope);

/// An operator who is signed in.
pub(super) struct Operator(Member);

/// Who may read the counters.
pub(super) struct Scraper(());

impl Deref for PublicKey {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

impl Deref for Reseller {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.0
    }
}

impl Deref for Operator {
    type Target = Member;

    fn deref(&self) -> &Member {
        &self.0
    }
}

/// The caller behind a secret or legacy key.
///
/// # Errors
/// `unauthorized`, `wrong_key_type`.
pub(super) fn secret(front: &Front, headers: &HeaderMap) -> Result<Arc<Caller>, Error> {
    let caller = front
        .service
        .authenticate(front.now(), presented(headers)?)?;
    match caller.class() {
        KeyClass::Secret | KeyClass::Legacy => Ok(caller),
        KeyClass::Public => {
            let message = "a public key opens /v1/public only; use the secret key here";
            Err(Refusal::new(Code::WrongKeyType, message).into())
        }
    }
}

/// The caller behind a public key, where the page that sends it is one that the account lets use it.
///
/// # Errors
/// `unauthorized`, `wrong_key_type`, `forbidden`.
pub(super) fn public(front: &Front, headers: &HeaderMap) -> Result<PublicKey, Error> {
    let caller = front
        .service
        .authenticate(front.now(), presented(headers)?)?;
    if caller.class() != KeyClass::Public {
        let message = "this takes a public key only; keep the secret one on your server";
        return Err(Refusal::new(Code::WrongKeyType, message).into());
    }
    if let Some(origin) = header(headers, "origin")? {
        front.service.admit_origin(&caller, origin)?;
    }
    Ok(PublicKey(caller))
}

/// The reseller behind a token.
///
/// # Errors
/// `unauthorized`.
pub(super) fn reseller(front: &Front, headers: &HeaderMap) -> Result<Reseller, Error> {
    let token = bearer(headers)?
        .ok_or_else(|| unauthorized("send the token as Authorization: Bearer <token>"))?;
    let reseller = front.service.authenticate_reseller(front.now(), token)?;
    Ok(Reseller(reseller))
}

/// Who is signed in.
///
/// # Errors
/// `unauthorized`; `forbidden` where a page of another site wants to change something.
pub(super) fn member(front: &Front, method: &Method, headers: &HeaderMap) -> Result<Member, Error> {
    if method != Method::GET {
        same_site(front, headers)?;
    }
    let cookie = cookie(front, headers)
        .ok_or_else(|| unauthorized("sign in first: POST /dashboard/api/session"))?;
    front.service.member(front.now(), cookie)
}

/// Who is signed in, where that is an operator.
///
/// # Errors
/// As [`member`]; `forbidden` where it is none.
pub(super) fn operator(
    front: &Front,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Operator, Error> {
    let member = member(front, method, headers)?;
    if member.is_operator() {
        Ok(Operator(member))
    } else {
        Err(Refusal::new(Code::Forbidden, "only operators may do this").into())
    }
}

/// Asks for the token of the metrics, where one is set.
///
/// # Errors
/// `unauthorized`.
pub(super) fn scraper(front: &Front, headers: &HeaderMap) -> Result<Scraper, Error> {
    let Some(token) = &front.metrics_token else {
        return Ok(Scraper(()));
    };
    if bearer(headers)?.is_some_and(|text| token.is(text)) {
        return Ok(Scraper(()));
    }
    let message = "send the token of --metrics-token as Authorization: Bearer <token>";
    Err(unauthorized(message).into())
}

/// The sandbox, for who may use its controls.
///
/// # Errors
/// `not_found` outside the sandbox, `forbidden`.
pub(super) fn sandbox(front: &Front, headers: &HeaderMap) -> Result<Arc<Sandbox>, Error> {
    let sandbox = front.sandbox.as_ref();
    let sandbox = sandbox.ok_or_else(|| Refusal::not_found("path"))?;
    sandbox.admit(headers)?;
    Ok(Arc::clone(sandbox))
}

/// Refuses what a page of another site sends; programs that are no browsers send neither header.
///
/// # Errors
/// `forbidden`.
pub(super) fn same_site(front: &Front, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text("host").unwrap_or_default();
    let is_public = |origin: &Site<'_>| {
        Site::parse(&front.public_url).is_ok_and(|public| public.has_origin_of(origin))
    };
    let is_own = |origin: &str| {
        let origin = Site::parse(origin)
            .ok()
            .filter(|site| site.rest().is_empty());
        origin.is_some_and(|origin| is_public(&origin) || origin.is_at(host))
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
