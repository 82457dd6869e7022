//! State that handlers share: the service, the clock, and all counters across requests.
//!
//! Invariant: nothing here knows a handler.

pub(super) mod faults;
pub(super) mod inbox;
pub(super) mod sandbox;

use super::client::TrustedProxy;
use super::hashing::Hashing;
use super::large_answers::LargeAnswers;
use super::limit::{CREATION_BURST, Limiter};
use super::long_reads::LongReads;
use super::metrics::{Metrics, MetricsToken};
use super::subscribers::Subscribers;
use super::throttle::{PasswordLimits, Throttle};
use crate::clock::Clock;
use crate::domain::time::Time;
use crate::service::{Error, Service};
use hyper::body::Bytes;
use sandbox::{Sandbox, SandboxSettings};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// A boxed future, for tables of functions and for handles from `app`.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Invoices that a client may create at once by payment links.
const LINK_BURST: u32 = 10;

/// Everything that a handler may use.
pub struct Front {
    pub(super) service: Arc<Service>,
    pub(super) clock: Arc<Clock>,
    pub(super) limiter: Limiter,
    pub(super) link_limiter: Limiter,
    pub(super) trusted_proxy: TrustedProxy,
    pub(super) metrics: Metrics,
    pub(super) metrics_token: Option<MetricsToken>,
    pub(super) sandbox: Option<Arc<Sandbox>>,
    pub(super) throttle: Arc<Throttle>,
    pub(super) hashing: Hashing,
    pub(super) long_reads: LongReads,
    pub(super) large_answers: LargeAnswers,
    pub(super) subscribers: Arc<Subscribers>,
    pub(super) public_url: String,
    pub(super) body_timeout: Duration,
    closed: watch::Sender<bool>,
    process: u32,
    requests: AtomicU64,
    interface: Interface,
    document: OnceLock<Bytes>,
    controls_document: OnceLock<Bytes>,
    reference: OnceLock<Bytes>,
}

/// Settings that differ between servers.
pub struct Settings {
    /// Public URL, without a slash at its end.
    pub public_url: String,
    /// Invoices that a key may create in a minute; 0 for no limit.
    pub creations_per_minute: u32,
    /// Invoices that a client may create in a minute by payment links; 0 for no limit.
    pub link_invoices_per_minute: u32,
    /// Proxies whose `X-Forwarded-For` counts.
    pub trusted_proxy: TrustedProxy,
    /// Time limit of a body, in milliseconds.
    pub body_timeout_ms: u64,
    /// Limits of password checks.
    pub password_limits: PasswordLimits,
    /// Token of `/metrics`, `None` if it is open.
    pub metrics_token: Option<MetricsToken>,
    /// Listeners to invoices, notified of every commit.
    pub subscribers: Arc<Subscribers>,
    /// Settings of a sandbox, `None` outside it.
    pub sandbox: Option<SandboxSettings>,
}

/// Operations of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Operations of every server: the merchant's, operator's and reseller's interfaces, and webhooks.
    Interface,
    /// Operations for a shop's server, and webhooks: a part of the interface.
    Merchant,
    /// Controls of a sandbox.
    Sandbox,
}

/// Name, method and path of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// Whether it is a control of the sandbox.
    pub(super) is_control: bool,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.method, self.path)
    }
}

/// The operations as a whole, for handlers. The list itself is above this module.
pub(super) struct Interface {
    /// Every operation, in the order of the list.
    pub(super) operations: Vec<Operation>,
    /// Makes the OpenAPI document of a server at this URL.
    pub(super) document: fn(&str, Subject) -> String,
}

/// Id of a request. Its text is made only when it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestId {
    process: u32,
    number: u64,
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "req_{:08x}{:08x}", self.process, self.number)
    }
}

impl Front {
    /// Creates the shared state.
    ///
    /// # Errors
    /// [`Error::Failed`] if the system has no randomness for request ids.
    pub(super) fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        settings: Settings,
        interface: Interface,
    ) -> Result<Front, Error> {
        let process = u32::from_be_bytes(crate::service::random::<4>()?);
        let sandbox = settings
            .sandbox
            .map(|sandbox| Sandbox::new(sandbox, &settings.public_url, &interface.operations));
        let throttle = Throttle::new(clock.stopwatch(), settings.password_limits);
        Ok(Front {
            service,
            clock,
            limiter: Limiter::new(settings.creations_per_minute, CREATION_BURST),
            link_limiter: Limiter::new(settings.link_invoices_per_minute, LINK_BURST),
            trusted_proxy: settings.trusted_proxy,
            metrics: Metrics::new(interface.operations.iter().map(|operation| operation.name)),
            metrics_token: settings.metrics_token,
            sandbox: sandbox.map(Arc::new),
            throttle: Arc::new(throttle),
            hashing: Hashing::new(settings.password_limits.waiting_max),
            long_reads: LongReads::default(),
            large_answers: LargeAnswers::default(),
            subscribers: settings.subscribers,
            public_url: settings.public_url,
            body_timeout: Duration::from_millis(settings.body_timeout_ms),
            closed: watch::Sender::new(false),
            process,
            requests: AtomicU64::new(0),
            interface,
            document: OnceLock::new(),
            controls_document: OnceLock::new(),
            reference: OnceLock::new(),
        })
    }

    /// Makes the readiness probe fail, and ends requests that only wait.
    pub fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Returns `true` if the server is stopping.
    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Awaits a future and returns its output, or `None` if the server stops first.
    pub(super) async fn unless_closed<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            outcome = what => Some(outcome),
            _ = closed.wait_for(|closed| *closed) => None,
        }
    }

    /// Returns the time at which a request is handled.
    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns the id of the next request. Ids ascend within a process, so log lines can be found by them.
    pub(super) fn next_request_id(&self) -> RequestId {
        RequestId {
            process: self.process,
            number: self.requests.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Returns the OpenAPI document of the interface, made at the first request.
    pub(super) fn document(&self) -> Bytes {
        let make = || (self.interface.document)(&self.public_url, Subject::Interface).into();
        self.document.get_or_init(make).clone()
    }

    /// Returns the OpenAPI document of the sandbox's controls, made at the first request.
    pub(super) fn controls_document(&self) -> Bytes {
        let make = || (self.interface.document)(&self.public_url, Subject::Sandbox).into();
        self.controls_document.get_or_init(make).clone()
    }

    /// Returns the page of the reference, made at the first request.
    ///
    /// # Errors
    /// As `make`.
    pub(super) fn reference(
        &self,
        make: impl FnOnce(&Front) -> Result<Bytes, Error>,
    ) -> Result<Bytes, Error> {
        if let Some(page) = self.reference.get() {
            return Ok(page.clone());
        }
        let page = make(self)?;
        Ok(self.reference.get_or_init(|| page).clone())
    }
}
