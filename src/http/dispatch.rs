//! Handles a request from its first byte to its answer: id, route, header limit, authentication, rate limit, body,
//! query, handler, log line.
//!
//! Invariant: every answer carries the id of its request. An error is logged once, by this module.

mod admission;
mod body;
mod call_notice;
mod simulated;

use super::auth::Auth;
use super::connection::IncomingBody;
use super::mistyped_path::{repaired_path, unknown_path_refusal};
use super::pages::ErrorContext;
use super::policy::PagePolicy;
use super::reply::Reply;
use super::request::{Call, Query, masked_path, path_values};
use super::route::{AnswerPolicy, ListenerRoutes, ReplyFuture, Route};
use super::router::{RouteMatch, Router};
use super::routes::routes;
use super::state::{HttpSettings, HttpState, InterfaceDocuments, RequestId};
use super::stream::ReplyBody;
use super::{accept, error, large_answers, openapi, pages, public, reference};
use crate::clock::Clock;
use crate::domain::{Refusal, RefusalCode};
use crate::render::sandbox::CallFaultView;
use crate::service::{Error, QuotaOwner, Service};
use admission::admit;
use body::receive_body;
use call_notice::CallNotice;
use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, DATE, HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use std::mem;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of the headers together with the request line, in bytes.
const HEADER_BYTES_MAX: usize = 16 * 1024;

/// Delay of an answer to an unknown key.
const UNAUTHORIZED_DELAY: Duration = Duration::from_millis(200);

/// Tells browsers to use HTTPS for a year.
const HTTPS_ONLY: &str = "max-age=31536000";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A request, after its body was received completely or up to a limit.
struct ArrivedRequest<'a> {
    peer: IpAddr,
    uri: &'a Uri,
    /// Method and headers of the request. Its target is in `uri`.
    parts: Parts,
    body: Result<Bytes, Refusal>,
}

/// Number of characters of a refused field's name in the log.
const LOGGED_PARAM_CHARS_MAX: usize = 100;

/// Error of a simulated fault that drops an answer: the operation is done, but the connection is closed without an
/// answer.
#[derive(Debug)]
pub(super) struct DroppedAnswer;

impl std::fmt::Display for DroppedAnswer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a simulated fault of the sandbox dropped the answer")
    }
}

impl std::error::Error for DroppedAnswer {}

/// Answers the requests of a listener, with the listener's routes and the state that all handlers share.
pub(super) struct Dispatcher {
    pub(super) http: Arc<HttpState>,
    router: Router,
    /// `true` if the listener has TLS, so that answers tell browsers to use HTTPS only.
    has_tls: bool,
}

/// Creates the state that handlers share.
///
/// # Errors
/// [`Error::Failed`] if the system has no randomness for request ids.
pub fn create_state(
    service: Arc<Service>,
    clock: Arc<Clock>,
    settings: HttpSettings,
) -> Result<Arc<HttpState>, Error> {
    let operations = routes(true).map(|route| route.operation);
    let interface =
        InterfaceDocuments { document: openapi::document, reference: reference::reference };
    HttpState::new(service, clock, settings, operations, interface).map(Arc::new)
}

impl Dispatcher {
    pub(super) fn new(http: Arc<HttpState>, scope: ListenerRoutes, has_tls: bool) -> Dispatcher {
        let router = Router::new(routes(http.sandbox.is_some()), scope);
        Dispatcher { http, router, has_tls }
    }

    /// Answers a request. The body is read even if the request is refused: an unread body would force the server to
    /// close the connection.
    pub(super) async fn dispatch(
        &self,
        peer: IpAddr,
        request: Request<IncomingBody>,
    ) -> Result<Response<ReplyBody>, DroppedAnswer> {
        let http = &self.http;
        let id = http.next_request_id();
        let stopwatch = log::log_enabled!(log::Level::Debug).then(|| http.clock.stopwatch());
        let (mut parts, body) = request.into_parts();
        let (method, uri) = (parts.method.clone(), mem::take(&mut parts.uri));
        let path = uri.path();
        let found = self.router.find(&method, path);
        // The permit of a large body is held until the request is answered.
        let (body, _permit) = receive_body(http, &found, &parts, body).await;
        let is_whole = body.is_ok();
        let (number, form) = match &found {
            RouteMatch::Route(number, route, _) => (Some(*number), route.form),
            RouteMatch::OtherMethods(_) | RouteMatch::Nothing => {
                let repaired = repaired_path(path);
                (None, self.router.error_form(repaired.as_deref().unwrap_or(path)))
            }
        };
        let context = ErrorContext::new(http, id, form, &uri, &parts.headers, body.as_ref().ok());
        let browser_languages = browser_languages(&found, form, &uri, &parts.headers);
        let refused = |error| error_reply(&context, error);
        let host = admit_host(http, &found, &uri, &parts.headers);
        let fault = match (&host, &found) {
            (Ok(()), RouteMatch::Route(_, route, _)) => simulated_fault(http, route).await,
            _ => None,
        };
        let simulated = fault.as_ref().and_then(|fault| StatusCode::from_u16(fault.status?).ok());
        let uri = &uri;
        let call_notice = CallNotice::new(http, &found, uri, &parts, &body);
        let arrived = ArrivedRequest { peer, uri, parts, body };
        let reply = match found {
            _ if let Err(refusal) = host => refused(refusal.into()),
            RouteMatch::Route(_, route, values) => match simulated {
                Some(status) => {
                    simulated::fault_reply(&self.router.methods(path), route, status, &context)
                }
                None => answer_route(http, route, values, arrived, &context).await,
            },
            RouteMatch::OtherMethods(_) | RouteMatch::Nothing
                if method == Method::OPTIONS && form.is_shared =>
            {
                Reply::no_content()
            }
            RouteMatch::OtherMethods(methods) => {
                let path = masked_path(path);
                let message = format!("{method} is not a method of {path}; use {methods}");
                let refusal = Refusal::new(RefusalCode::MethodNotAllowed, message);
                refused(refusal.into()).with_header(ALLOW, &methods)
            }
            RouteMatch::Nothing => match browser_languages {
                Some(languages) => pages::unknown_path_page(&context, &languages),
                None => refused(unknown_path_refusal(&self.router, path).into()),
            },
        };
        let reply = with_common_headers(reply, &method, form, is_whole, id);
        let reply = self.with_server_headers(reply, form);
        if let Some(call_notice) = call_notice {
            call_notice.notify(http, id, &reply);
        }
        http.metrics.count_answer(number, reply.status.as_u16());
        if let Some(stopwatch) = stopwatch {
            let (status, ms, path) =
                (reply.status.as_u16(), stopwatch.elapsed_ms(), masked_path(path));
            let refused = reply.refusal.as_deref().map(log_fields).unwrap_or_default();
            log::debug!("{method} {path} {status} id={id} ms={ms}{refused}");
        }
        if fault.is_some_and(|fault| fault.drop_answer) {
            return Err(DroppedAnswer);
        }
        Ok(reply.into_response())
    }

    /// Adds the headers that depend on the server: the time of a sandbox, and HTTPS only.
    fn with_server_headers(&self, mut reply: Reply, form: AnswerPolicy) -> Reply {
        if self.http.sandbox.is_some() && form.is_private && !form.is_shared {
            // Pages compute how long ago things happened, and the clock of a sandbox can be moved.
            reply = reply.with_owned_header(DATE, self.http.now().http_date());
        }
        if self.has_tls {
            reply = reply.with_static_header(STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
        }
        reply
    }
}

/// Returns a refusal as fields of a log line: its code, and the beginning of the wrong field or parameter if it names
/// one, as a caller may have chosen its name.
fn log_fields(refusal: &Refusal) -> String {
    match &refusal.param {
        Some(param) => {
            let param: String = param.chars().take(LOGGED_PARAM_CHARS_MAX).collect();
            format!(" error={} param={}", refusal.code, param.escape_debug())
        }
        None => format!(" error={}", refusal.code),
    }
}

/// Returns the languages of a browser that requested an unknown path, which gets a page. Returns `None` for a program,
/// for a path below pages, which have their own error page, and for a path whose JSON names what is doubled in it.
fn browser_languages(
    found: &RouteMatch,
    form: AnswerPolicy,
    uri: &Uri,
    headers: &HeaderMap,
) -> Option<String> {
    let is_unknown = matches!(found, RouteMatch::Nothing) && form.page.is_none();
    let is_unknown = is_unknown && repaired_path(uri.path()).is_none();
    let is_browser = is_unknown && accept::prefers_page(headers);
    is_browser.then(|| pages::accept_language(headers))
}

/// Returns the answer to an error: an HTML page for a route of pages, else JSON.
fn error_reply(context: &ErrorContext<'_>, error: Error) -> Reply {
    if context.form.page.is_some() {
        pages::error_page(context, error)
    } else {
        error::json_reply(error, &context.request_id.to_string())
    }
}

/// Adds the request id and the headers that the route's answer form requires.
fn with_common_headers(
    mut reply: Reply,
    method: &Method,
    form: AnswerPolicy,
    is_whole: bool,
    id: RequestId,
) -> Reply {
    let is_nothing = reply.status == StatusCode::NO_CONTENT;
    if form.is_shared && method == Method::OPTIONS && is_nothing {
        reply = public::preflight_reply();
    }
    reply = reply.with_owned_header(REQUEST_ID, id.to_string());
    if form.is_private {
        reply = reply.with_static_header(CACHE_CONTROL, "no-store");
    }
    if form.is_shared {
        reply = public::add_cors_headers(reply);
    }
    if !is_whole {
        // Part of the body is unread, so the connection cannot carry another request.
        reply = reply.with_header(CONNECTION, "close");
    }
    reply
}

/// Takes the simulated fault for this call, and waits for the fault's delay. Returns `None` if the call has no fault.
async fn simulated_fault(http: &HttpState, route: &Route) -> Option<CallFaultView> {
    if route.auth() == Auth::Sandbox {
        return None;
    }
    let fault = http.service.take_call_fault(route.method, route.path)?;
    http.run_until_closed(tokio::time::sleep(Duration::from_millis(fault.delay_ms))).await;
    Some(fault)
}

/// Refuses a `Host` header that the sandbox does not accept. Without this check, other sites could call the many
/// operations that need no key.
fn admit_host(
    http: &HttpState,
    found: &RouteMatch,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    match (&http.sandbox, found) {
        (None, _) => Ok(()),
        (Some(_), RouteMatch::Route(_, route, _)) if route.takes_any_host => Ok(()),
        (Some(sandbox), _) => sandbox.hosts.admit(uri, headers),
    }
}

async fn answer_route(
    http: &Arc<HttpState>,
    route: &'static Route,
    values: Vec<String>,
    arrived: ArrivedRequest<'_>,
    context: &ErrorContext<'_>,
) -> Reply {
    let mut limits = Vec::new();
    let mut reply = match start_handler(http, route, values, arrived, &mut limits) {
        Ok(started) => {
            started.into_reply(http).await.unwrap_or_else(|error| error_reply(context, error))
        }
        Err(error) => {
            slow_down_guessing(http, &error).await;
            error_reply(context, error)
        }
    };
    reply.headers.extend(limits);
    reply
}

/// An answer that a handler is creating, and the caller whose quota the answer uses. Callers without a key or a
/// session have no quota.
struct StartedAnswer {
    answering: ReplyFuture,
    quota_owner: Option<QuotaOwner>,
}

impl StartedAnswer {
    /// Waits for the handler's answer. Refuses a large answer if the caller has too many large answers in
    /// transmission.
    async fn into_reply(self, http: &HttpState) -> Result<Reply, Error> {
        let reply = self.answering.await?;
        match self.quota_owner {
            Some(quota_owner) => {
                large_answers::admit(&http.large_answers, quota_owner, reply).await
            }
            None => Ok(reply),
        }
    }
}

/// Delays the answer to an unknown key, so that guessing is slow. Does not delay in a sandbox, whose keys are public.
async fn slow_down_guessing(http: &HttpState, error: &Error) {
    let is_guess =
        matches!(error, Error::Refused(refusal) if refusal.code == RefusalCode::Unauthorized);
    if is_guess && http.sandbox.is_none() {
        http.run_until_closed(tokio::time::sleep(UNAUTHORIZED_DELAY)).await;
    }
}

/// Checks a request and starts its handler. Stores the rate limit headers in `limits`, because error answers have
/// these headers as well.
fn start_handler(
    http: &Arc<HttpState>,
    route: &'static Route,
    path: Vec<String>,
    ArrivedRequest { peer, uri, parts, body }: ArrivedRequest<'_>,
    limits: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<StartedAnswer, Error> {
    let query_text = uri.query().unwrap_or("");
    let line_bytes = uri.path().len().saturating_add(query_text.len());
    if header_bytes(&parts.headers).saturating_add(line_bytes) > HEADER_BYTES_MAX {
        let message = format!("the header must be at most {HEADER_BYTES_MAX} bytes");
        return Err(Refusal::new(RefusalCode::HeadersTooLarge, message).into());
    }
    let bytes: &[u8] = body.as_deref().unwrap_or_default();
    let admitted = admit(http, route, &parts, bytes, limits)?;
    let quota_owner = admitted.quota_owner;
    let query = Query::parse(query_text, route.query, route.refuses_unknown_params())?;
    let body = body?;
    if !body.is_empty() && (route.body.is_some() || route.upload.is_some()) {
        body::refuse_encoding(&parts.headers)?;
    }
    let answering = (admitted.handler)(Call {
        http: Arc::clone(http),
        now: http.now(),
        headers: parts.headers,
        peer,
        body,
        query,
        path: path_values(route.path, path),
        policy: route.form.page.unwrap_or(PagePolicy::NOT_FRAMED),
    });
    Ok(StartedAnswer { answering, quota_owner })
}

/// Returns the size of the headers in bytes, with four bytes of punctuation for each header.
fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().fold(0, |sum: usize, (name, value)| {
        sum.saturating_add(name.as_str().len()).saturating_add(value.len()).saturating_add(4)
    })
}
