//! The state that handlers share: the use cases, the clock, and everything that is counted across requests.
//!
//! What lives here: state. What does not: the routes and their handlers, which use it. What always holds: nothing
//! here knows a handler.

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

/// A future that is boxed: what a table of functions, or a handle from `app`, can hold.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Invoices that a client may make at once by payment links.
const LINK_BURST: u32 = 10;

/// Everything a handler may use.
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
    /// Who listens to invoices: told of every commit.
    pub subscribers: Arc<Subscribers>,
    /// What a sandbox has besides; nothing outside the sandbox.
    pub sandbox: Option<SandboxSettings>,
}

/// Operations that a document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// What every server has: the merchant's interface, the operator's, the reseller's, and webhooks.
    Interface,
    /// Operations that a shop's server calls, and webhooks: a part of the interface.
    Merchant,
    /// What only a sandbox has: its controls.
    Sandbox,
}

/// What an operation is called, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// Is it one of the sandbox's own controls?
    pub(super) is_control: bool,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.method, self.path)
    }
}

/// What handlers may know of all operations together; given from above, where their list is.
pub(super) struct Interface {
    /// Every operation, in the order of the list.
    pub(super) operations: Vec<Operation>,
    /// Makes the OpenAPI document of a server at this url.
    pub(super) document: fn(&str, Subject) -> String,
}

/// The id of a request. Its text is written where it is needed.
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
    /// Puts the front together.
    ///
    /// # Errors
    /// [`Error::Failed`] where the system has no randomness for request ids.
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

    /// Says to the readiness probe that no more work should be sent here, and ends what only waits.
    pub fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Is the server stopping?
    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Waits for `what`, at most until the server is stopping; nothing where that came first.
    pub(super) async fn unless_closed<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            outcome = what => Some(outcome),
            _ = closed.wait_for(|closed| *closed) => None,
        }
    }

    /// The moment a request is handled at.
    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// The id of the next request: of this process and in order, so that log lines can be found by it.
    pub(super) fn next_request_id(&self) -> RequestId {
        RequestId {
            process: self.process,
            number: self.requests.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Returns the OpenAPI document of the interface, made when it is first asked for.
    pub(super) fn document(&self) -> Bytes {
        let make = || (self.interface.document)(&self.public_url, Subject::Interface).into();
        self.document.get_or_init(make).clone()
    }

    /// Returns the OpenAPI document of the sandbox's controls, made when it is first asked for.
    pub(super) fn controls_document(&self) -> Bytes {
        let make = || (self.interface.document)(&self.public_url, Subject::Sandbox).into();
        self.controls_document.get_or_init(make).clone()
    }

    /// The page of the reference, made when first asked for.
    ///
    /// # Errors
    /// Those of `make`.
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
