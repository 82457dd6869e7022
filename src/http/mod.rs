//! The front door: hyper, and nowhere else.
//!
//! What lives here: connections, routes, keys, limits, statuses, the document. What does not: what an operation
//! means (`service`). What always holds: ROUTES is the one list of operations; the router, the key check, the
//! document and the tests all read it.

mod api;
mod auth;
mod client;
mod connection;
mod dashboard;
mod dispatch;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hashing;
mod hosts;
mod large_answers;
mod limit;
mod long_reads;
mod metrics;
mod openapi;
mod pages;
mod password;
mod places;
mod probes;
mod public;
mod refusals;
mod reply;
mod request;
mod reseller;
mod router;
mod routes;
mod sandbox;
mod server;
mod stream;
mod throttle;

pub use auth::Auth;
pub use client::TrustedProxy;
pub use hosts::AllowedHost;
pub use metrics::{MetricsToken, Scope};
pub use openapi::Subject;
pub use password::PasswordLimits;
pub use routes::{Route, routes};
pub use sandbox::{ClockStep, Control, InboxState, SandboxSettings};
pub use server::{Limits, Listener};

use crate::clock::Clock;
use crate::domain::time::Time;
use crate::service::{Error, Service};
use hyper::body::Bytes;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// A future that is boxed: what a table of functions, or a handle from `app`, can hold.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Invoices that a client may make at once by payment links.
const LINK_BURST: u32 = 10;

/// Everything a handler may use.
pub struct Front {
    service: Arc<Service>,
    clock: Arc<Clock>,
    router: router::Router,
    limiter: limit::Limiter,
    link_limiter: limit::Limiter,
    trusted_proxy: TrustedProxy,
    metrics: metrics::Metrics,
    metrics_token: Option<MetricsToken>,
    sandbox: Option<sandbox::Sandbox>,
    throttle: Arc<throttle::Throttle>,
    hashing: hashing::Hashing,
    long_reads: long_reads::LongReads,
    large_answers: large_answers::LargeAnswers,
    public_url: String,
    body_timeout: Duration,
    closed: watch::Sender<bool>,
    request_prefix: String,
    requests: AtomicU64,
    document: OnceLock<Bytes>,
    controls_document: OnceLock<Bytes>,
}

/// What makes one server differ from another.
pub struct Settings {
    /// The public url, without a slash at its end.
    pub public_url: String,
    /// Invoices a key may make in a minute; 0: no limit.
    pub creations_per_minute: u32,
    /// Invoices a client may make in a minute by payment links; 0: no limit.
    pub link_invoices_per_minute: u32,
    /// Which proxies say truly who their client is.
    pub trusted_proxy: TrustedProxy,
    /// How long a body may take to arrive.
    pub body_timeout_ms: u64,
    /// What may be asked of the checking of passwords.
    pub password_limits: PasswordLimits,
    /// What `/metrics` asks for; nothing: it is open.
    pub metrics_token: Option<MetricsToken>,
    /// What a sandbox has besides; nothing outside the sandbox.
    pub sandbox: Option<SandboxSettings>,
}

impl Front {
    /// Puts the front together.
    ///
    /// # Errors
    /// [`Error::Failed`] where the system has no randomness for request ids.
    pub fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        settings: Settings,
    ) -> Result<Front, Error> {
        let prefix = crate::domain::signature::hex(&crate::service::random::<4>()?);
        let is_sandbox = settings.sandbox.is_some();
        let sandbox = settings
            .sandbox
            .map(|sandbox| sandbox::Sandbox::new(sandbox, &settings.public_url));
        let throttle = throttle::Throttle::new(clock.stopwatch(), settings.password_limits);
        Ok(Front {
            service,
            clock,
            router: router::Router::new(routes(is_sandbox)),
            limiter: limit::Limiter::new(settings.creations_per_minute, limit::CREATION_BURST),
            link_limiter: limit::Limiter::new(settings.link_invoices_per_minute, LINK_BURST),
            trusted_proxy: settings.trusted_proxy,
            metrics: metrics::Metrics::default(),
            metrics_token: settings.metrics_token,
            sandbox,
            throttle: Arc::new(throttle),
            hashing: hashing::Hashing::new(settings.password_limits.waiting_max),
            long_reads: long_reads::LongReads::default(),
            large_answers: large_answers::LargeAnswers::default(),
            public_url: settings.public_url,
            body_timeout: Duration::from_millis(settings.body_timeout_ms),
            closed: watch::Sender::new(false),
            request_prefix: format!("req_{prefix}"),
            requests: AtomicU64::new(0),
            document: OnceLock::new(),
            controls_document: OnceLock::new(),
        })
    }

    /// Says to the readiness probe that no more work should be sent here, and ends what only waits.
    pub fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Waits for `what`, at most until the server is stopping; nothing where that came first.
    async fn unless_closed<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            outcome = what => Some(outcome),
            _ = closed.wait_for(|closed| *closed) => None,
        }
    }

    /// The moment a request is handled at.
    fn now(&self) -> Time {
        self.clock.now()
    }

    /// The id of the next request: of this process and in order, so that log lines can be found by it.
    fn next_request_id(&self) -> String {
        format!(
            "{}{:08x}",
            self.request_prefix,
            self.requests.fetch_add(1, Ordering::Relaxed)
        )
    }

    /// An OpenAPI document, made when first asked for; its bytes are shared by all answers.
    fn document(&self, subject: Subject) -> Bytes {
        let kept = match subject {
            Subject::Interface => &self.document,
            Subject::Sandbox => &self.controls_document,
        };
        let make = || openapi::document(&self.public_url, subject).into();
        kept.get_or_init(make).clone()
    }
}

/// The answer to an error under this path: a page where pages are, JSON elsewhere.
fn refused(path: &str, error: Error, request_id: &str) -> reply::Reply {
    if pages::covers(path) {
        pages::error(path, error, request_id)
    } else {
        error::answer(error, request_id)
    }
}

/// The OpenAPI document of a server at this url.
pub fn document(public_url: &str, subject: Subject) -> String {
    openapi::document(public_url, subject)
}
