//! State that all handlers share: the service, the clock, and the counters.
//!
//! Invariant: this module does not depend on any handler.

pub(super) mod inbox;
pub(super) mod sandbox;

use super::client::TrustedProxyCheck;
use super::hashing::HashingQueue;
use super::large_answers::CALLER_ANSWERS_MAX;
use super::limit::{CREATION_BURST, Limiter};
use super::long_reads::LongReads;
use super::metrics::{Metrics, MetricsToken};
use super::node_trials::NodeTrials;
use super::permits::PermitPool;
use super::subscribers::Subscribers;
use super::throttle::{PasswordLimits, Throttle};
use crate::clock::Clock;
use crate::domain::Time;
use crate::service::followed::nodes::NodeControl;
use crate::service::{Error, QuotaOwner, Service};
use crate::web::reference::Topic;
use hyper::body::Bytes;
use sandbox::{Sandbox, SandboxSettings};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

/// Pages of the API reference by name, each compressed with gzip.
pub(super) type ReferencePages = BTreeMap<String, Bytes>;

/// Maximum number of files that one caller may send at once.
const CALLER_UPLOADS_MAX: usize = 4;

/// Number of invoices that a client may create through payment links in a burst.
const LINK_BURST: u32 = 10;

/// Shared state that every handler can use.
pub struct HttpState {
    pub(super) service: Arc<Service>,
    pub(super) clock: Arc<Clock>,
    pub(super) limiter: Limiter,
    pub(super) link_limiter: Limiter,
    pub(super) trusted_proxy: TrustedProxyCheck,
    pub(super) metrics: Metrics,
    pub(super) metrics_token: Option<MetricsToken>,
    pub(super) sandbox: Option<Arc<Sandbox>>,
    /// Nodes that operators enter. `None` in a sandbox.
    pub(super) nodes: Option<NodeTrials>,
    pub(super) throttle: Arc<Throttle>,
    pub(super) hashing: HashingQueue,
    pub(super) long_reads: LongReads,
    pub(super) large_answers: PermitPool<QuotaOwner>,
    /// Permits for files that callers are sending.
    pub(super) uploads: PermitPool<QuotaOwner>,
    pub(super) subscribers: Arc<Subscribers>,
    pub(super) public_url: String,
    pub(super) body_timeout: Duration,
    closed: watch::Sender<bool>,
    process: u32,
    requests: AtomicU64,
    interface: InterfaceDocuments,
    document: OnceLock<Bytes>,
    controls_document: OnceLock<Bytes>,
    reference: OnceLock<ReferencePages>,
}

/// Settings of one HTTP server.
pub struct HttpSettings {
    /// Public URL, without a trailing slash.
    pub public_url: String,
    /// Number of invoices that a key may create in a minute; 0 for no limit.
    pub creations_per_minute: u32,
    /// Number of invoices that a client may create in a minute through payment links; 0 for no limit.
    pub link_invoices_per_minute: u32,
    /// Function that returns `true` for the address of a trusted proxy. The server reads `X-Forwarded-For` only from
    /// trusted proxies.
    pub trusted_proxy: TrustedProxyCheck,
    /// Time limit for receiving a body, in milliseconds.
    pub body_timeout_ms: u64,
    /// Limits of password checks.
    pub password_limits: PasswordLimits,
    /// Throttle of guesses, which a reset of a sandbox clears.
    pub throttle: Arc<Throttle>,
    /// Token that `/metrics` requires, `None` if `/metrics` is open.
    pub metrics_token: Option<MetricsToken>,
    /// Subscriptions of checkout pages to invoices. Every commit notifies the subscribers of the changed invoices.
    pub subscribers: Arc<Subscribers>,
    /// Settings of a sandbox, `None` for a server that is not a sandbox.
    pub sandbox: Option<SandboxSettings>,
    /// Access to nodes that operators enter. `None` in a sandbox.
    pub nodes: Option<Arc<dyn NodeControl>>,
}

/// Kind of OpenAPI document, which selects the operations that the document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// Operations of every server, for merchants, operators and resellers, and the webhooks.
    Interface,
    /// Operations for a shop's server, and the webhooks: a subset of `Interface`.
    Merchant,
    /// Operations that control a sandbox.
    Sandbox,
}

/// Functions that create the documents, for handlers. Handlers cannot use the routes themselves, because the module
/// `routes` depends on handlers.
pub(super) struct InterfaceDocuments {
    /// Returns the OpenAPI document of a server at this URL.
    pub(super) document: fn(&str, DocumentKind) -> String,
    /// Returns the topics of the API reference of a server at this URL. The second argument is `true` for a sandbox.
    pub(super) reference: fn(&str, bool) -> Vec<Topic>,
}

/// Id of a request, formatted as text only when needed.
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

impl HttpState {
    /// Creates the shared state. `operations` are the names of all operations, in the order of the routes.
    ///
    /// # Errors
    /// [`Error::Failed`] if the system has no randomness for request ids.
    pub(super) fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        settings: HttpSettings,
        operations: impl Iterator<Item = &'static str>,
        interface: InterfaceDocuments,
    ) -> Result<HttpState, Error> {
        let process = u32::from_be_bytes(crate::service::random_bytes::<4>()?);
        let sandbox = settings.sandbox.map(|sandbox| Sandbox::new(sandbox, &settings.public_url));
        Ok(HttpState {
            service,
            clock,
            limiter: Limiter::new(settings.creations_per_minute, CREATION_BURST),
            link_limiter: Limiter::new(settings.link_invoices_per_minute, LINK_BURST),
            trusted_proxy: settings.trusted_proxy,
            metrics: Metrics::new(operations),
            metrics_token: settings.metrics_token,
            sandbox: sandbox.map(Arc::new),
            nodes: settings.nodes.map(NodeTrials::new),
            throttle: settings.throttle,
            hashing: HashingQueue::new(settings.password_limits.waiting_max),
            long_reads: LongReads::default(),
            large_answers: PermitPool::new(CALLER_ANSWERS_MAX),
            uploads: PermitPool::new(CALLER_UPLOADS_MAX),
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

    /// Makes the readiness probe fail, and ends requests that only wait, for example event streams.
    pub fn close(&self) {
        self.closed.send_replace(true);
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Awaits a future and returns its output, or `None` if the server shuts down first.
    pub(super) async fn run_until_closed<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            outcome = what => Some(outcome),
            _ = closed.wait_for(|closed| *closed) => None,
        }
    }

    /// Returns the current time of the server's clock.
    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns the id of the next request. Ids ascend within a process, so the log can be searched by id.
    pub(super) fn next_request_id(&self) -> RequestId {
        RequestId { process: self.process, number: self.requests.fetch_add(1, Ordering::Relaxed) }
    }

    /// Returns the id of a run of the sandbox, by its number in this process.
    pub(super) fn run_id(&self, number: u64) -> String {
        format!("run_{:08x}{number:08x}", self.process)
    }

    /// Returns a random number that identifies the process.
    pub(super) fn process_number(&self) -> u32 {
        self.process
    }

    /// Returns the OpenAPI document with the operations of every server. The first call creates the document.
    pub(super) fn interface_document(&self) -> Bytes {
        let make = || (self.interface.document)(&self.public_url, DocumentKind::Interface).into();
        self.document.get_or_init(make).clone()
    }

    /// Returns the OpenAPI document of the sandbox's controls. The first call creates the document.
    pub(super) fn controls_document(&self) -> Bytes {
        let make = || (self.interface.document)(&self.public_url, DocumentKind::Sandbox).into();
        self.controls_document.get_or_init(make).clone()
    }

    pub(super) fn reference_topics(&self) -> Vec<Topic> {
        (self.interface.reference)(&self.public_url, self.sandbox.is_some())
    }

    /// Returns a page of the API reference, compressed with gzip: `None` for an unknown name. The first call creates all
    /// pages with `make`.
    pub(super) fn reference_page(
        &self,
        name: &str,
        make: impl FnOnce(&HttpState) -> Result<ReferencePages, Error>,
    ) -> Result<Option<Bytes>, Error> {
        let pages = match self.reference.get() {
            Some(pages) => pages,
            None => {
                let pages = make(self)?;
                self.reference.get_or_init(|| pages)
            }
        };
        Ok(pages.get(name).cloned())
    }
}
