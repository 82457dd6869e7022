//! Authentication of callers. Each kind of caller has one function, which returns a value that proves the
//! authentication.
//!
//! Invariant: only this module creates such values, from the credentials of a request.

use super::request::header;
use super::state::HttpState;
use super::state::sandbox::Sandbox;
use crate::domain::{KeyClass, Refusal, RefusalCode, Role, SiteUrl};
use crate::service::callers::unauthorized;
use crate::service::{Caller, Error, Member, Scope};
use hyper::{HeaderMap, Method};
use std::ops::Deref;
use std::sync::Arc;

/// Name of the session cookie if the public URL uses plain http.
const PLAIN_COOKIE: &str = "coffer_session";
/// Name of the session cookie if the public URL is https. Browsers send a `__Host-` cookie only to the same host,
/// over https.
const HOST_COOKIE: &str = "__Host-coffer_session";

pub(super) fn cookie_name(public_url: &str) -> &'static str {
    if SiteUrl::parse(public_url).is_ok_and(|site| site.is_https()) {
        HOST_COOKIE
    } else {
        PLAIN_COOKIE
    }
}

/// Credentials that a route requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// The route requires no credentials.
    Open,
    /// A secret or legacy key.
    Secret,
    /// A public key, sent by a page whose origin the account allows.
    Public,
    /// A session of a user. [`Role::Operator`] accepts only operators; [`Role::Merchant`] accepts operators and
    /// merchants' users.
    Session(Role),
    /// A reseller's token.
    Reseller,
    /// The token from `--metrics-token`. If the option is not set, no credentials are required.
    Metrics,
    /// No credentials, but only requests from this machine. Requests from pages of other sites are refused. Used only
    /// under `coffer sandbox`.
    Sandbox,
}

/// A caller with a valid public key, from a page whose origin the account allows.
pub(super) struct PublicKeyCaller(Arc<Caller>);

/// Account and mode of a reseller with a valid token.
pub(super) struct Reseller(Scope);

pub(super) struct Operator(Member);

/// A caller that may read the metrics.
pub(super) struct Scraper(());

impl Deref for PublicKeyCaller {
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

/// Authenticates a secret or legacy key.
///
/// # Errors
/// `unauthorized`, `wrong_key_type`.
pub(super) fn authenticate_secret_key(
    http: &HttpState,
    headers: &HeaderMap,
) -> Result<Arc<Caller>, Error> {
    let caller = http.service.authenticate(http.now(), presented_key(headers)?)?;
    match caller.class() {
        KeyClass::Secret | KeyClass::Legacy => Ok(caller),
        KeyClass::Public => {
            let message = "a public key opens /v1/public only; use the secret key here";
            Err(Refusal::new(RefusalCode::WrongKeyType, message).into())
        }
    }
}

/// Authenticates a public key, and checks that the account allows the page's origin.
///
/// # Errors
/// `unauthorized`, `wrong_key_type`, `forbidden`.
pub(super) fn authenticate_public_key(
    http: &HttpState,
    headers: &HeaderMap,
) -> Result<PublicKeyCaller, Error> {
    let caller = http.service.authenticate(http.now(), presented_key(headers)?)?;
    if caller.class() != KeyClass::Public {
        let message = "this takes a public key only; keep the secret one on your server";
        return Err(Refusal::new(RefusalCode::WrongKeyType, message).into());
    }
    if let Some(origin) = header(headers, "origin")? {
        http.service.check_origin(&caller, origin)?;
    }
    Ok(PublicKeyCaller(caller))
}

/// Authenticates a reseller's token.
///
/// # Errors
/// `unauthorized`.
pub(super) fn authenticate_reseller(
    http: &HttpState,
    headers: &HeaderMap,
) -> Result<Reseller, Error> {
    let token = bearer_credentials(headers)?
        .ok_or_else(|| unauthorized("send the token as Authorization: Bearer <token>"))?;
    let reseller = http.service.authenticate_reseller(http.now(), token)?;
    Ok(Reseller(reseller))
}

/// Authenticates the user of the session cookie.
///
/// # Errors
/// `unauthorized` without a valid session; `forbidden` if a page of another site sends a request that is not a GET
/// request.
pub(super) fn authenticate_member(
    http: &HttpState,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Member, Error> {
    if method != Method::GET {
        check_same_site(http, headers)?;
    }
    let cookie = session_cookie(http, headers)
        .ok_or_else(|| unauthorized("sign in first: POST /dashboard/api/session"))?;
    http.service.member_by_cookie(http.now(), cookie)
}

/// Authenticates the user of the session cookie, who must be an operator.
///
/// # Errors
/// The errors of [`authenticate_member`]; `forbidden` if the user is not an operator.
pub(super) fn authenticate_operator(
    http: &HttpState,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Operator, Error> {
    let member = authenticate_member(http, method, headers)?;
    if member.is_operator() {
        Ok(Operator(member))
    } else {
        Err(Refusal::new(RefusalCode::Forbidden, "only operators may do this").into())
    }
}

/// Authenticates by the token of `--metrics-token`. Accepts every caller if no token is set.
///
/// # Errors
/// `unauthorized`.
pub(super) fn authenticate_scraper(
    http: &HttpState,
    headers: &HeaderMap,
) -> Result<Scraper, Error> {
    let Some(token) = &http.metrics_token else {
        return Ok(Scraper(()));
    };
    if bearer_credentials(headers)?.is_some_and(|text| token.matches(text)) {
        return Ok(Scraper(()));
    }
    let message = "send the token of --metrics-token as Authorization: Bearer <token>";
    Err(unauthorized(message).into())
}

/// Returns the sandbox if the caller may control the sandbox.
///
/// # Errors
/// `not_found` if the server is not a sandbox; `forbidden` if the caller may not control the sandbox.
pub(super) fn admit_to_sandbox(
    http: &HttpState,
    headers: &HeaderMap,
) -> Result<Arc<Sandbox>, Error> {
    let sandbox = http.sandbox.as_ref();
    let sandbox = sandbox.ok_or_else(|| Refusal::not_found("path"))?;
    sandbox.admit(headers)?;
    Ok(Arc::clone(sandbox))
}

/// Refuses requests from pages of other sites, recognized by `Origin` and `Sec-Fetch-Site`. Accepts requests without
/// these headers, because only browsers send them.
///
/// # Errors
/// `forbidden`.
pub(super) fn check_same_site(http: &HttpState, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text("host").unwrap_or_default();
    let is_public = |origin: &SiteUrl<'_>| {
        SiteUrl::parse(&http.public_url).is_ok_and(|public| public.is_same_origin(origin))
    };
    let is_own = |origin: &str| {
        let origin =
            SiteUrl::parse(origin).ok().filter(|site| site.text_after_authority().is_empty());
        origin.is_some_and(|origin| is_public(&origin) || origin.matches_host_header(host))
    };
    let foreign_origin = headers.contains_key("origin") && !text("origin").is_some_and(is_own);
    let cross_site =
        text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    if foreign_origin || cross_site {
        let message = "Origin must be the service's own: pages of other sites may not do this";
        return Err(Refusal::new(RefusalCode::Forbidden, message));
    }
    Ok(())
}

pub(super) fn session_cookie<'a>(http: &HttpState, headers: &'a HeaderMap) -> Option<&'a str> {
    let wanted = cookie_name(&http.public_url);
    let lines = headers.get_all("cookie").iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == wanted)
        .map(|(_, value)| value)
}

/// Returns the key in `X-API-Key` or `Authorization`. If both headers carry a key, the keys must be equal.
pub(super) fn presented_key(headers: &HeaderMap) -> Result<&str, Refusal> {
    let by_header =
        header(headers, "X-API-Key").map_err(|refusal| unauthorized(&refusal.message))?;
    match (by_header, bearer_credentials(headers)?) {
        (Some(one), Some(other)) if one != other => {
            Err(unauthorized("X-API-Key and Authorization carry different keys; send one"))
        }
        (Some(key), _) | (None, Some(key)) => Ok(key),
        (None, None) => {
            Err(unauthorized("an API key is needed, in X-API-Key or as Authorization: Bearer"))
        }
    }
}

/// Returns the credentials in the header `Authorization: Bearer`, `None` without the header.
fn bearer_credentials(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let text =
        header(headers, "Authorization").map_err(|refusal| unauthorized(&refusal.message))?;
    match text.map(|text| text.split_once(' ')) {
        None => Ok(None),
        Some(Some((scheme, key))) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(key.trim())),
        Some(_) => Err(unauthorized("Authorization must be \"Bearer <key>\"")),
    }
}
