//! Admission of a request: authenticates the caller as the route requires, and passes the proof to the handler.

use crate::api::operation::{Context, Job, OperationFn, Outcome};
use crate::domain::Refusal;
use crate::http::auth;
use crate::http::limit;
use crate::http::operations::run_operation;
use crate::http::request::Call;
use crate::http::route::{Handler, ReplyFuture, Route};
use crate::http::state::HttpState;
use crate::service::{Caller, Error, Member, QuotaOwner};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use std::sync::Arc;

/// A request whose caller is authenticated.
pub(super) struct AdmittedRequest {
    /// Caller whose quota the request uses, `None` without a key or a session.
    pub(super) quota_owner: Option<QuotaOwner>,
    /// The handler of the route, bound to the proof of authentication that it requires.
    pub(super) handler: BoundHandler,
}

type BoundHandler = Box<dyn FnOnce(Call) -> ReplyFuture + Send>;

/// The function of a declared operation, bound to its caller.
type BoundFunction = Box<dyn FnOnce(&Context<'_>) -> Result<Job, Error> + Send>;

/// Authenticates the caller of a route. Stores the rate limit headers in `limits`, because error answers have these
/// headers as well. `body` is empty if the body could not be read.
pub(super) fn admit(
    http: &HttpState,
    route: &'static Route,
    parts: &Parts,
    body: &[u8],
    limits: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<AdmittedRequest, Error> {
    let (method, headers) = (&parts.method, &parts.headers);
    let (quota_owner, handler): (_, BoundHandler) = match route.handler {
        Handler::Open(handler) => (None, Box::new(handler)),
        Handler::Session(handler) => {
            let member = auth::authenticate_member(http, method, headers)?;
            require_recent_password(http, route, &member, body)?;
            (Some(member.quota_owner()), Box::new(move |call| handler(call, member)))
        }
        Handler::Operator(handler) => {
            let operator = auth::authenticate_operator(http, method, headers)?;
            require_recent_password(http, route, &operator, body)?;
            (Some(operator.quota_owner()), Box::new(move |call| handler(call, operator)))
        }
        Handler::Metrics(handler) => {
            let scraper = auth::authenticate_scraper(http, headers)?;
            (None, Box::new(move |call| handler(call, scraper)))
        }
        Handler::Sandbox(handler) => {
            let sandbox = auth::admit_to_sandbox(http, headers)?;
            (None, Box::new(move |call| handler(call, sandbox)))
        }
        Handler::Declared(operation) => {
            let (quota_owner, function) =
                admit_declared(http, route, operation.run, parts, body, limits)?;
            let run = move |call: Call| run_operation(&call, route, quota_owner, function);
            (quota_owner, Box::new(run))
        }
    };
    Ok(AdmittedRequest { quota_owner, handler })
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
