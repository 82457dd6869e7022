//! Opens the parts of a server, starts them, and stops them in the reverse order.
//!
//! Invariant: a part stops before the parts that it needs.

mod commits;
mod control;
pub(crate) mod following;
pub(crate) mod open_files;
mod parts;
mod sandbox;
pub(crate) mod sockets;
mod temporary;

pub use crate::service::Error;
pub use sandbox::Sandbox;

use crate::acme::AcmeSettings;
use crate::chain::rates::RatesOrigin;
use crate::chain::setting::FollowedNodeUrls;
use crate::clock::TimeSource;
use crate::domain::progress::ignore_progress;
use crate::domain::time::DAY_MS;
use crate::domain::{Progress, ServerLimits};
use crate::http::{AllowedHost, ConnectionLimits, MetricsToken, PasswordLimits};
use crate::outbound::Cidr;
use crate::outbound::smtp::SmtpSettings;
use crate::store::{Durability, FileKind};
use crate::worker::command::{Program, clear_inherited_capabilities};
use parts::RunningParts;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use temporary::TemporaryFile;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Sandbox or production.
    pub kind: FileKind,
    /// Path of the database. `None`: a temporary file that is removed when the server stops.
    pub file: Option<PathBuf>,
    /// Address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// Certificates by ACME: the main address has TLS. Needs a file that stays. `None`: plain HTTP.
    pub acme: Option<AcmeSettings>,
    /// Separate address that serves only `/metrics`. `None`: the main address also serves `/metrics`, with a
    /// certificate by ACME only if a token is required.
    pub metrics_listen: Option<SocketAddr>,
    /// Token that `/metrics` requires. `None`: no token is required.
    pub metrics_token: Option<MetricsToken>,
    /// Base of the URLs in responses. `None`: the listening address.
    pub public_url: Option<String>,
    /// Invoices that an API key may create in a minute. 0: no limit.
    pub creations_per_minute: u32,
    /// Invoices that a client may create in a minute through payment links. 0: no limit.
    pub link_invoices_per_minute: u32,
    /// Address ranges of proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxy: Vec<Cidr>,
    /// Address ranges that webhooks may reach although they are not public.
    pub webhook_allow: Vec<Cidr>,
    /// Timeout of a webhook request, in milliseconds.
    pub webhook_timeout_ms: u64,
    /// Pause after twenty consecutive failures of one webhook receiver, in milliseconds of real time. Ignored in the
    /// sandbox.
    pub webhook_pause_ms: u32,
    /// Time for which delivery attempts are kept, in milliseconds. A delivered delivery is deleted with its last
    /// attempt.
    pub keep_attempts_ms: i64,
    /// Mail server. `None`: no e-mail is sent. Not used in the sandbox, which only shows messages.
    pub smtp: Option<SmtpSettings>,
    /// `true` if the sandbox may listen on other addresses than loopback.
    pub allow_remote: bool,
    /// Additional host names that the sandbox accepts in requests. The names of this machine are always accepted.
    pub allow_host: Vec<AllowedHost>,
    /// Maximum size of a server that a reseller orders.
    pub server_limits: ServerLimits,
    /// Program that creates and removes ordered servers. Not used in the sandbox.
    pub provisioner: Option<Program>,
    /// Program that sends approved payouts and refunds. Not used in the sandbox.
    pub signer: Option<Program>,
    /// Timeout of a program, in milliseconds.
    pub command_timeout_ms: u64,
    /// Maximum time for a running program while the server stops, in milliseconds. Responses in progress finish
    /// meanwhile.
    pub command_drain_ms: u64,
    /// Limits on connections and requests.
    pub limits: ConnectionLimits,
    /// Limits on password checks.
    pub password_limits: PasswordLimits,
    /// Source of live rates. A sandbox has fixed rates.
    pub rates: RatesOrigin,
    /// Timeout of one request to a rate source, in milliseconds.
    pub rates_timeout_ms: u64,
    /// Nodes of the chains to follow. Not used in the sandbox.
    pub nodes: FollowedNodeUrls,
    /// Source of the time. A sandbox uses the system clock.
    pub time: TimeSource,
    /// Function that receives the progress of an upgrade of the file.
    pub tell: fn(Progress<'_>),
}

impl Config {
    /// Returns the configuration of a sandbox with a temporary file, on a free loopback port.
    pub fn sandbox() -> Config {
        Config {
            kind: FileKind::Sandbox,
            file: None,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            acme: None,
            metrics_listen: None,
            metrics_token: None,
            public_url: None,
            creations_per_minute: 0,
            link_invoices_per_minute: 0,
            trusted_proxy: Vec::new(),
            webhook_allow: Vec::new(),
            webhook_timeout_ms: 10_000,
            webhook_pause_ms: 50,
            keep_attempts_ms: 30 * DAY_MS,
            smtp: None,
            allow_remote: false,
            allow_host: Vec::new(),
            server_limits: ServerLimits::default(),
            provisioner: None,
            signer: None,
            command_timeout_ms: 300_000,
            command_drain_ms: 10_000,
            limits: ConnectionLimits::default(),
            password_limits: PasswordLimits::default(),
            rates: RatesOrigin::Nowhere,
            rates_timeout_ms: 10_000,
            nodes: FollowedNodeUrls::default(),
            time: TimeSource::System,
            tell: ignore_progress,
        }
    }
}

/// A running server. Dropping the value stops the server: responses in progress are completed, workers finish their
/// current job and the writer commits. A temporary file is then removed.
pub struct Server {
    url: String,
    listen: SocketAddr,
    metrics_listen: Option<SocketAddr>,
    setup_url: Option<String>,
    file: PathBuf,
    running: Option<(Runtime, RunningParts)>,
    /// Removes the temporary file. This field is dropped last, after [`Drop`] has stopped all users of the file.
    _temporary: Option<TemporaryFile>,
}

impl Server {
    /// Starts a server and returns when it accepts requests.
    ///
    /// # Errors
    /// The file cannot be opened, or the address cannot be bound.
    pub fn start(config: Config) -> Result<Server, Error> {
        let address = config.listen;
        let mut addresses = std::iter::once(address).chain(config.metrics_listen);
        let stays_here = config.kind == FileKind::Production || config.allow_remote;
        let far = addresses.find(|address| !stays_here && !address.ip().is_loopback());
        if let Some(address) = far {
            let problem =
                format!("a sandbox listens beyond loopback ({address}) with --allow-remote only");
            return Err(Error::Failed(problem));
        }
        if config.kind == FileKind::Production {
            clear_inherited_capabilities();
        }
        parts::check_acme(&config)?;
        let (file, durability, temporary) = match config.file.clone() {
            Some(file) => (file, Durability::Full, None),
            None => {
                let temporary = TemporaryFile::new()?;
                let file = temporary.path().to_owned();
                (file, Durability::Process, Some(temporary))
            }
        };
        let mut server = Server {
            url: String::new(),
            listen: address,
            metrics_listen: None,
            setup_url: None,
            file,
            running: None,
            _temporary: temporary,
        };
        let started = RunningParts::start(config, &server.file, durability)?;
        server.url = started.url;
        server.listen = started.listen;
        server.metrics_listen = started.metrics_listen;
        server.setup_url = started.setup_url;
        server.running = Some((started.runtime, started.parts));
        Ok(server)
    }

    /// Returns the base URL, without `/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the address that the server listens on, with the actual port if port 0 was requested.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// Returns the separate address of `/metrics`, if there is one.
    pub fn metrics_listen(&self) -> Option<SocketAddr> {
        self.metrics_listen
    }

    /// Returns the link that creates the first operator, while there is none. The link is a secret.
    pub fn setup_url(&self) -> Option<&str> {
        self.setup_url.as_deref()
    }

    /// Returns the path of the database.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Starts to handle termination signals, which would otherwise end the process at once.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn handle_signals(&self) -> Result<Signals, Error> {
        let _runtime = self.running.as_ref().map(|(runtime, _)| runtime.enter());
        let hear = |kind| signal(kind).map_err(|error| Error::Failed(format!("signals: {error}")));
        Ok(Signals {
            terminate: hear(SignalKind::terminate())?,
            interrupt: hear(SignalKind::interrupt())?,
            hangup: match is_hangup_ignored() {
                true => None,
                false => Some(hear(SignalKind::hangup())?),
            },
        })
    }

    /// Runs until a signal arrives or `other` completes.
    pub fn run_until_signal(&self, mut signals: Signals, other: impl Future<Output = ()>) {
        let Some((runtime, _)) = &self.running else {
            return;
        };
        runtime.block_on(async {
            tokio::select! {
                _ = signals.terminate.recv() => {}
                _ = signals.interrupt.recv() => {}
                () = Signals::wait_for_hangup(&mut signals.hangup) => {}
                () = other => {}
            }
        });
    }
}

/// Handlers of SIGTERM, SIGINT and SIGHUP. SIGHUP arrives when the terminal is closed.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// `None` if the process must continue after its terminal is closed, for example under `nohup`.
    hangup: Option<Signal>,
}

impl Signals {
    async fn wait_for_hangup(hangup: &mut Option<Signal>) {
        match hangup {
            Some(hangup) => drop(hangup.recv().await),
            None => std::future::pending().await,
        }
    }
}

/// Returns `true` if the process ignores SIGHUP. The system reports the ignored signals as a bit mask, in which the
/// lowest bit is SIGHUP.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some((runtime, parts)) = self.running.take() {
            runtime.block_on(parts.stop());
            drop(runtime);
        }
    }
}
