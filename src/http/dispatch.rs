//! One request from its first byte to its answer.
//!
//! What lives here: the order of things: id, route, header limit, key, rate, body, query, handler, log line. What
//! always holds: every answer carries the request's id, and an error is logged once, here.

mod admission;
mod pretended;
mod telling;

use super::connection::Arriving;
use super::front::faults::Fault;
use super::front::{Front, Interface, RequestId, Settings};
use super::pages::Asked;
use super::policy::Policy;
use super::reply::Reply;
use super::request::{Call, Query, path_values, shown};
use super::route::{Answering, Form, Route, Scope};
use super::router::{Found, Router};
use super::routes::routes;
use super::stream::Outgoing;
use super::{error, openapi, pages, public};
use crate::clock::Clock;
use crate::domain::refusal::{Code, Refusal};
use crate::service::{Asker, Error, Service};
use admission::admit;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use hyper::body::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONNECTION, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use std::mem;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use telling::Telling;

/// The largest body.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// The largest header, the request line included.
const HEADER_BYTES_MAX: usize = 16 * 1024;

/// How long an answer to an unknown key is held back.
const UNAUTHORIZED_DELAY: Duration = Duration::from_millis(200);

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A request that has come in whole, or as far as it may.
struct Arrived<'a> {
    peer: IpAddr,
    uri: &'a Uri,
    /// Without the target, which is `uri`.
    parts: Parts,
    body: Result<Bytes, Refusal>,
}

/// The work is done and the answer is not sent: a fault of the sandbox. The connection is closed.
#[derive(Debug)]
pub(super) struct Dropped;

impl std::fmt::Display for Dropped {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a simulated fault of the sandbox dropped the answer")
    }
}

impl std::error::Error for Dropped {}

/// The operations that a listener serves, and what all handlers share.
pub(super) struct Dispatcher {
    pub(super) front: Arc<Front>,
    router: Router,
}

/// Puts together what all handlers share.
///
/// # Errors
/// [`Error::Failed`] where the system has no randomness for request ids.
pub fn front(
    service: Arc<Service>,
    clock: Arc<Clock>,
    settings: Settings,
) -> Result<Arc<Front>, Error> {
    let interface = Interface {
        operations: routes(true).map(Route::named).collect(),
        document: openapi::document,
    };
    Front::new(service, clock, settings, interface).map(Arc::new)
}

impl Dispatcher {
    /// Of a listener that serves these.
    pub(super) fn new(front: Arc<Front>, scope: Scope) -> Dispatcher {
        let router = Router::new(routes(front.sandbox.is_some()), scope);
        Dispatcher { front, router }
    }

    /// Answers a request. Its body is read first, also where it will be refused: a body left unread costs the caller the
    /// connection.
    pub(super) async fn dispatch(
        &self,
        peer: IpAddr,
        request: Request<Arriving>,
    ) -> Result<Response<Outgoing>, Dropped> {
        let front = &self.front;
        let id = front.next_request_id();
        let stopwatch = log::log_enabled!(log::Level::Debug).then(|| front.clock.stopwatch());
        let (mut parts, body) = request.into_parts();
        let (method, uri) = (parts.method.clone(), mem::take(&mut parts.uri));
        let path = uri.path();
        let body = read_body(body, front.body_timeout).await;
        let is_whole = body.is_ok();
        let found = self.router.find(&method, path);
        let (number, form) = match &found {
            Found::Route(number, route, _) => (Some(*number), route.form),
            Found::OtherMethods(_) | Found::Nothing => (None, self.router.form(path)),
        };
        let asked = Asked::new((front, id), form, &uri, &parts.headers, body.as_ref().ok());
        let refused = |error| refused(&asked, error);
        let host = admit_host(front, &found, &uri, &parts.headers);
        let fault = match (&host, &found) {
            (Ok(()), Found::Route(_, route, _)) => met(front, route).await,
            _ => None,
        };
        let pretended = fault.as_ref().and_then(|fault| fault.status);
        let uri = &uri;
        let telling = Telling::of(front, &found, (uri, &parts), &body);
        let arrived = Arrived {
            peer,
            uri,
            parts,
            body,
        };
        let reply = match found {
            _ if let Err(refusal) = host => refused(refusal.into()),
            Found::Route(_, route, values) => match pretended {
                Some(status) => {
                    pretended::answer(&self.router.methods(path), (route, status), &asked)
                }
                None => admitted(front, route, values, arrived, &asked).await,
            },
            Found::OtherMethods(_) | Found::Nothing
                if method == Method::OPTIONS && form.is_shared =>
            {
                Reply::nothing()
            }
            Found::OtherMethods(methods) => {
                let path = shown(path);
                let message = format!("{method} is not a method of {path}; use {methods}");
                let refusal = Refusal::new(Code::MethodNotAllowed, message);
                refused(refusal.into()).with(ALLOW, &methods)
            }
            Found::Nothing => refused(Refusal::not_found("path").into()),
        };
        let reply = finished(reply, &method, form, is_whole, id);
        if let Some(telling) = telling {
            telling.end(front, id, &reply);
        }
        front.metrics.count(number, reply.status.as_u16());
        if let Some(stopwatch) = stopwatch {
            let (status, ms) = (reply.status.as_u16(), stopwatch.ms());
            log::debug!("{id} {method} {} {status} {ms} ms", shown(path));
        }
        if fault.is_some_and(|fault| fault.drops_answer) {
            return Err(Dropped);
        }
        Ok(reply.into_response())
    }
}

/// The answer to an error: a page where answers are pages, JSON elsewhere.
fn refused(asked: &Asked<'_>, error: Error) -> Reply {
    if asked.form.page.is_some() {
        pages::error(asked, error)
    } else {
        error::answer(error, &asked.request_id.to_string())
    }
}

/// An answer with the headers that all answers of its form have.
fn finished(mut reply: Reply, method: &Method, form: Form, is_whole: bool, id: RequestId) -> Reply {
    let is_nothing = reply.status == StatusCode::NO_CONTENT;
    if form.is_shared && method == Method::OPTIONS && is_nothing {
        reply = public::allowed();
    }
    reply = reply.with_text(REQUEST_ID, id.to_string());
    if form.is_private {
        reply = reply.with_static(CACHE_CONTROL, "no-store");
    }
    if form.is_shared {
        reply = public::share(reply);
    }
    if !is_whole {
        // What is left of the body would be read as the next request.
        reply = reply.with(CONNECTION, "close");
    }
    reply
}

/// The fault that a call of this route meets, which has waited as long as the fault says.
async fn met(front: &Front, route: &Route) -> Option<Fault> {
    let fault = front.sandbox.as_ref()?.faults.meet(route.named())?;
    front.unless_closed(tokio::time::sleep(fault.delay)).await;
    Some(fault)
}

/// A sandbox asks for no key in many places, so whatever is asked must be asked of it by a name of its own.
fn admit_host(front: &Front, found: &Found, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    match (&front.sandbox, found) {
        (None, _) => Ok(()),
        (Some(_), Found::Route(_, route, _)) if route.takes_any_host => Ok(()),
        (Some(sandbox), _) => sandbox.hosts.admit(uri, headers),
    }
}

/// A request whose route is known.
async fn admitted(
    front: &Arc<Front>,
    route: &'static Route,
    values: Vec<String>,
    arrived: Arrived<'_>,
    asked: &Asked<'_>,
) -> Reply {
    let mut limits = Vec::new();
    let mut reply = match begun(front, route, values, arrived, &mut limits) {
        Ok(begun) => begun
            .answer(front)
            .await
            .unwrap_or_else(|error| refused(asked, error)),
        Err(error) => {
            slow_down_guessing(front, &error).await;
            refused(asked, error)
        }
    };
    reply.headers.extend(limits);
    reply
}

/// An answer that is being made, and whose share of what is scarce it uses: nobody's where it asks neither for a key nor
/// for a session.
struct Begun {
    answering: Answering,
    asker: Option<Asker>,
}

impl Begun {
    /// What the handler answers, where there is room for it.
    async fn answer(self, front: &Front) -> Result<Reply, Error> {
        let reply = self.answering.await?;
        match self.asker {
            Some(asker) => front.large_answers.admit(asker, reply).await,
            None => Ok(reply),
        }
    }
}

/// Whoever tries keys at a shop in production waits a moment for each; in a sandbox they are known anyway.
async fn slow_down_guessing(front: &Front, error: &Error) {
    let is_guess = matches!(error, Error::Refused(refusal) if refusal.code == Code::Unauthorized);
    if is_guess && front.sandbox.is_none() {
        front
            .unless_closed(tokio::time::sleep(UNAUTHORIZED_DELAY))
            .await;
    }
}

/// The handler at work, after everything that is checked before it; `limits` are headers for the answer, whichever it is.
fn begun(
    front: &Arc<Front>,
    route: &'static Route,
    path: Vec<String>,
    Arrived {
        peer,
        uri,
        parts,
        body,
    }: Arrived<'_>,
    limits: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<Begun, Error> {
    let query_text = uri.query().unwrap_or("");
    let line_bytes = uri.path().len().saturating_add(query_text.len());
    if header_bytes(&parts.headers).saturating_add(line_bytes) > HEADER_BYTES_MAX {
        let message = format!("the header must be at most {HEADER_BYTES_MAX} bytes");
        return Err(Refusal::new(Code::HeadersTooLarge, message).into());
    }
    let bytes: &[u8] = body.as_deref().unwrap_or_default();
    let admitted = admit(front, route, &parts, bytes, limits)?;
    let asker = admitted.asker();
    let query = Query::parse(query_text, route.query)?;
    let answering = admitted.answer(Call {
        front: Arc::clone(front),
        now: front.now(),
        headers: parts.headers,
        peer,
        body: body?,
        query,
        path: path_values(route.path, path),
        policy: route.form.page.unwrap_or(Policy::ALONE),
    });
    Ok(Begun { answering, asker })
}

/// What a header weighs: names, values and four bytes of punctuation each.
fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().fold(0, |sum: usize, (name, value)| {
        sum.saturating_add(name.as_str().len())
            .saturating_add(value.len())
            .saturating_add(4)
    })
}

/// The whole body, within its limits of size and time.
async fn read_body(body: Arriving, timeout: Duration) -> Result<Bytes, Refusal> {
    let too_large = || {
        Refusal::new(
            Code::PayloadTooLarge,
            format!("the body must be at most {BODY_BYTES_MAX} bytes"),
        )
    };
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    if body.size_hint().lower() > u64::try_from(BODY_BYTES_MAX).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    match tokio::time::timeout(timeout, whole(Limited::new(body, BODY_BYTES_MAX))).await {
        Ok(Ok(whole)) => Ok(whole.into()),
        Ok(Err(error)) if error.downcast_ref::<LengthLimitError>().is_some() => Err(too_large()),
        Ok(Err(error)) => Err(Refusal::new(
            Code::InvalidRequest,
            format!("the body ended early: {error}"),
        )),
        Err(_) => Err(Refusal::new(
            Code::RequestTimeout,
            format!(
                "the body took longer than {} ms to arrive",
                timeout.as_millis()
            ),
        )),
    }
}

/// The bytes of a body. They are copied out of the pieces in which they come: of a body in single bytes each piece costs
/// dozens of them, and keeps what it came in.
async fn whole(
    mut body: Limited<Arriving>,
) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let mut whole = Vec::new();
    while let Some(piece) = body.frame().await {
        if let Ok(bytes) = piece?.into_data() {
            whole.extend_from_slice(&bytes);
        }
    }
    Ok(whole)
}
