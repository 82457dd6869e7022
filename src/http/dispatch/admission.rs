//! Admission of a request: authenticates the caller as the route requires, and passes the proof to the handler.

use crate::api::operation::{Context, Job, OperationFn, Outcome};
use crate::domain::Refusal;
use crate::http::auth::{self, Operator, Scraper};
use crate::http::request::Call;
use crate::http::route::{Handler, ReplyFuture, Route};
use crate::http::state::HttpState;
use crate::http::state::sandbox::Sandbox;
use crate::http::{limit, operations};
use crate::service::{Caller, Error, Member, QuotaOwner};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use std::sync::Arc;

/// A handler with the proof of authentication that it requires.
pub(super) enum AdmittedHandler {
    Open(fn(Call) -> ReplyFuture),
    Session(fn(Call, Member) -> ReplyFuture, Member),
    Operator(fn(Call, Operator) -> ReplyFuture, Operator),
    Metrics(fn(Call, Scraper) -> ReplyFuture, Scraper),
    Sandbox(fn(Call, Arc<Sandbox>) -> ReplyFuture, Arc<Sandbox>),
    Declared(&'static Route, Option<QuotaOwner>, BoundFunction),
}

/// The function of a declared operation, bound to its caller.
type BoundFunction = Box<dyn FnOnce(&Context<'_>) -> Result<Job, Error> + Send>;

impl AdmittedHandler {
    /// Returns the caller whose quota the request uses, `None` without a key or a session.
    pub(super) fn quota_owner(&self) -> Option<QuotaOwner> {
        match self {
            AdmittedHandler::Declared(_, quota_owner, _) => *quota_owner,
            AdmittedHandler::Session(_, member) => Some(member.quota_owner()),
            AdmittedHandler::Operator(_, operator) => Some(operator.quota_owner()),
            AdmittedHandler::Open(_)
            | AdmittedHandler::Metrics(..)
            | AdmittedHandler::Sandbox(..) => None,
        }
    }

    /// Calls the handler with the proof of authentication.
    pub(super) fn run(self, call: Call) -> ReplyFuture {
        match self {
            AdmittedHandler::Open(handler) => handler(call),
            AdmittedHandler::Session(handler, member) => handler(call, member),
            AdmittedHandler::Operator(handler, operator) => handler(call, operator),
            AdmittedHandler::Metrics(handler, scraper) => handler(call, scraper),
            AdmittedHandler::Sandbox(handler, sandbox) => handler(call, sandbox),
            AdmittedHandler::Declared(route, quota_owner, function) => {
                operations::run_operation(&call, route, quota_owner, function)
            }
        }
    }
}

/// Authenticates the caller of a route. Stores the rate limit headers in `limits`, because error answers have these
/// headers as well. `body` is empty if the body could not be read.
pub(super) fn admit(
    http: &HttpState,
    route: &'static Route,
    parts: &Parts,
    body: &[u8],
    limits: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<AdmittedHandler, Error> {
    let (method, headers) = (&parts.method, &parts.headers);
    Ok(match route.handler {
        Handler::Open(handler) => AdmittedHandler::Open(handler),
        Handler::Session(handler) => {
            let member = auth::authenticate_member(http, method, headers)?;
            require_recent_password(http, route, &member, body)?;
            AdmittedHandler::Session(handler, member)
        }
        Handler::Operator(handler) => {
            let operator = auth::authenticate_operator(http, method, headers)?;
            require_recent_password(http, route, &operator, body)?;
            AdmittedHandler::Operator(handler, operator)
        }
        Handler::Metrics(handler) => {
            AdmittedHandler::Metrics(handler, auth::authenticate_scraper(http, headers)?)
        }
        Handler::Sandbox(handler) => {
            AdmittedHandler::Sandbox(handler, auth::admit_to_sandbox(http, headers)?)
        }
        Handler::Declared(operation) => {
            let (quota_owner, function) =
                admit_declared(http, route, operation.run, parts, body, limits)?;
            AdmittedHandler::Declared(route, quota_owner, function)
        }
    })
}

/// Authenticates the caller of an operation that `api` declares, and binds the caller to the operation's function.
fn admit_declared(
    http: &HttpState,
    route: &'static Route,
    run: OperationFn,
    parts: &Parts,
    body: &[u8],
    limits: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<(Option<QuotaOwner>, BoundFunction), Error> {
    let (method, headers) = (&parts.method, &parts.headers);
    Ok(match run {
        OperationFn::Open(function) => (None, Box::new(function)),
        OperationFn::Secret(function) => {
            let caller = admit_secret_key(http, route, headers, limits)?;
            let quota_owner = caller.quota_owner();
            let work = move |context: &Context<'_>| function(context, &caller);
            (Some(quota_owner), Box::new(work))
        }
        OperationFn::Public(function) => {
            let key = auth::authenticate_public_key(http, headers)?;
            let quota_owner = key.quota_owner();
            let work = move |context: &Context<'_>| function(context, &key);
            (Some(quota_owner), Box::new(work))
        }
        OperationFn::Preflight => (None, Box::new(|_| Ok(Job::Done(Outcome::NOTHING)))),
        OperationFn::Session(function) => {
            let member = auth::authenticate_member(http, method, headers)?;
            require_recent_password(http, route, &member, body)?;
            let quota_owner = member.quota_owner();
            let work = move |context: &Context<'_>| function(context, &member);
            (Some(quota_owner), Box::new(work))
        }
        OperationFn::Operator(function) => {
            let operator = auth::authenticate_operator(http, method, headers)?;
            require_recent_password(http, route, &operator, body)?;
            let quota_owner = operator.quota_owner();
            let work = move |context: &Context<'_>| function(context, &operator);
            (Some(quota_owner), Box::new(work))
        }
        OperationFn::Reseller(function) => {
            let reseller = auth::authenticate_reseller(http, headers)?;
            let quota_owner = reseller.quota_owner();
            let work = move |context: &Context<'_>| function(context, &reseller);
            (Some(quota_owner), Box::new(work))
        }
        OperationFn::Sandbox(function) => {
            auth::admit_to_sandbox(http, headers)?;
            (None, Box::new(function))
        }
        OperationFn::Controls(function) => {
            let sandbox = auth::admit_to_sandbox(http, headers)?;
            (None, Box::new(move |context: &Context<'_>| function(context, &sandbox.control)))
        }
    })
}

/// Authenticates a secret key. Counts the request against the rate of the key if the route is rate limited.
fn admit_secret_key(
    http: &HttpState,
    route: &Route,
    headers: &HeaderMap,
    limits: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<Arc<Caller>, Error> {
    let caller = auth::authenticate_secret_key(http, headers)?;
    if route.is_rate_limited {
        check_creation_limit(http, caller.key_id(), limits)?;
    }
    Ok(caller)
}

/// Refuses a request that needs a recently confirmed password if the user has not confirmed the password.
fn require_recent_password(
    http: &HttpState,
    route: &Route,
    member: &Member,
    body: &[u8],
) -> Result<(), Refusal> {
    if route.recent_password.is_needed(body) {
        member.check_recent_password(http.clock.real_now())?;
    }
    Ok(())
}

/// Counts one created invoice against the rate of the key. Stores the rate limit headers in `limits`.
fn check_creation_limit(
    http: &HttpState,
    key: &str,
    limits: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<(), Refusal> {
    let Some(verdict) = http.limiter.count_creation(key, http.clock.uptime()) else {
        return Ok(());
    };
    limits.extend(limit::rate_limit_headers(&http.limiter, &verdict));
    if verdict.allowed {
        return Ok(());
    }
    limits.push((RETRY_AFTER, HeaderValue::from(verdict.wait_seconds)));
    Err(verdict.refusal())
}
