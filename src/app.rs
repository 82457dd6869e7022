//! Wiring: opens the parts of a server, starts them, and stops them in the reverse order.
//!
//! What lives here: which part is given which other part. What does not: any rule. What always holds: a part stops
//! before the parts that it needs.

mod commits;
mod control;
pub(crate) mod following;
pub(crate) mod open_files;
mod parts;
mod sandbox;
mod sockets;
mod temporary;

pub use crate::service::Error;
pub use sandbox::Sandbox;

use crate::chain::rates::RatesFrom;
use crate::chain::setting::Nodes;
use crate::clock::TimeSource;
use crate::domain::progress::{Said, unheard};
use crate::domain::server::order::ServerLimits;
use crate::http::{AllowedHost, Limits, MetricsToken, PasswordLimits};
use crate::outbound::Cidr;
use crate::store::{Durability, Kind};
use crate::worker::command::Program;
use parts::Parts;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use temporary::Temporary;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The sandbox or the real thing.
    pub kind: Kind,
    /// The file; nothing: a temporary one that is removed at the end.
    pub file: Option<PathBuf>,
    /// Where to listen; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Where `/metrics` alone is served, and nowhere else; nothing: beside everything else.
    pub metrics_listen: Option<SocketAddr>,
    /// What `/metrics` asks for; nothing: it is open.
    pub metrics_token: Option<MetricsToken>,
    /// What urls in answers begin with; nothing: the listening address.
    pub public_url: Option<String>,
    /// Invoices a key may make in a minute; 0: no limit.
    pub creations_per_minute: u32,
    /// Invoices a client may make in a minute by payment links; 0: no limit.
    pub link_invoices_per_minute: u32,
    /// Address ranges of proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxy: Vec<Cidr>,
    /// Address ranges that webhooks may reach although they are not public.
    pub webhook_allow: Vec<Cidr>,
    /// How long a webhook's receiver may take.
    pub webhook_timeout_ms: u64,
    /// How long a receiver that has refused twenty webhooks in a row is left alone between two attempts, in milliseconds
    /// of real time; never in the sandbox.
    pub webhook_pause_ms: u32,
    /// May the sandbox listen off loopback?
    pub allow_remote: bool,
    /// Hosts that the sandbox answers to beside those that can only be this machine's.
    pub allow_host: Vec<AllowedHost>,
    /// How large a server may be that a reseller orders.
    pub server_limits: ServerLimits,
    /// What makes and removes ordered servers; never in the sandbox.
    pub provisioner: Option<Program>,
    /// What sends approved payouts and refunds; never in the sandbox.
    pub signer: Option<Program>,
    /// How long a command may take.
    pub command_timeout_ms: u64,
    /// How long a command may go on when the server is stopping, beside the answers under way.
    pub command_drain_ms: u64,
    /// What connections may ask of the server.
    pub limits: Limits,
    /// What may be asked of the checking of passwords.
    pub password_limits: PasswordLimits,
    /// Where the rates of live mode come from; a sandbox has fixed ones.
    pub rates: RatesFrom,
    /// How long a source of rates may take over one answer.
    pub rates_timeout_ms: u64,
    /// The nodes of the chains that are followed; never in the sandbox.
    pub nodes: Nodes,
    /// Where the time comes from; a sandbox goes by the system's.
    pub time: TimeSource,
    /// Who is told while a file of an older version is brought up to date.
    pub tell: fn(Said<'_>),
}

impl Config {
    /// A sandbox on a free port of loopback, in a temporary file.
    pub fn sandbox() -> Config {
        Config {
            kind: Kind::Sandbox,
            file: None,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            metrics_listen: None,
            metrics_token: None,
            public_url: None,
            creations_per_minute: 0,
            link_invoices_per_minute: 0,
            trusted_proxy: Vec::new(),
            webhook_allow: Vec::new(),
            webhook_timeout_ms: 10_000,
            webhook_pause_ms: 50,
            allow_remote: false,
            allow_host: Vec::new(),
            server_limits: ServerLimits::default(),
            provisioner: None,
            signer: None,
            command_timeout_ms: 300_000,
            command_drain_ms: 10_000,
            limits: Limits::default(),
            password_limits: PasswordLimits::default(),
            rates: RatesFrom::Nowhere,
            rates_timeout_ms: 10_000,
            nodes: Nodes::default(),
            time: TimeSource::System,
            tell: unheard,
        }
    }
}

/// A running server. Dropping it stops it: no new requests, those under way are answered, workers finish the job in
/// hand, the writer commits, and a temporary file is removed.
pub struct Server {
    url: String,
    listen: SocketAddr,
    metrics_listen: Option<SocketAddr>,
    setup_url: Option<String>,
    file: PathBuf,
    running: Option<(Runtime, Parts)>,
    /// Where the file goes with the server. It is dropped last, after [`Drop`] has stopped what works on it.
    _temporary: Option<Temporary>,
}

impl Server {
    /// Starts a server and returns once it answers.
    ///
    /// # Errors
    /// A text for a person: the file cannot be opened, the address cannot be bound.
    pub fn start(config: Config) -> Result<Server, Error> {
        let address = config.listen;
        let mut addresses = std::iter::once(address).chain(config.metrics_listen);
        let stays_here = config.kind == Kind::Production || config.allow_remote;
        let far = addresses.find(|address| !stays_here && !address.ip().is_loopback());
        if let Some(address) = far {
            let problem =
                format!("a sandbox listens beyond loopback ({address}) with --allow-remote only");
            return Err(Error::Failed(problem));
        }
        let (file, durability, temporary) = match config.file.clone() {
            Some(file) => (file, Durability::Full, None),
            None => {
                let temporary = Temporary::new()?;
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
        let started = Parts::start(config, &server.file, durability)?;
        server.url = started.url;
        server.listen = started.listen;
        server.metrics_listen = started.metrics_listen;
        server.setup_url = started.setup_url;
        server.running = Some((started.runtime, started.parts));
        Ok(server)
    }

    /// The url it is known by, without `/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address it listens on, with the port that it was given where port 0 was asked for.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// The address on which `/metrics` alone is served, where it has one of its own.
    pub fn metrics_listen(&self) -> Option<SocketAddr> {
        self.metrics_listen
    }

    /// Where the first operator is made, while there is none: for one person's eyes only.
    pub fn setup_url(&self) -> Option<&str> {
        self.setup_url.as_deref()
    }

    /// The file it works on.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Hears from now on when the process is asked to end, which it would otherwise be ended by at once.
    ///
    /// # Errors
    /// The system's.
    pub fn hear_signals(&self) -> Result<Signals, Error> {
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

    /// Runs until the process is asked to end, or `other` does.
    pub fn run_until_asked(&self, mut signals: Signals, other: impl Future<Output = ()>) {
        let Some((runtime, _)) = &self.running else {
            return;
        };
        runtime.block_on(async {
            tokio::select! {
                _ = signals.terminate.recv() => {}
                _ = signals.interrupt.recv() => {}
                () = Signals::hung_up(&mut signals.hangup) => {}
                () = other => {}
            }
        });
    }
}

/// SIGTERM, SIGINT and SIGHUP, heard: the last one comes where the terminal is closed.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// None where whoever started the process wants it to go on without its terminal, as `nohup` does.
    hangup: Option<Signal>,
}

impl Signals {
    async fn hung_up(hangup: &mut Option<Signal>) {
        match hangup {
            Some(hangup) => drop(hangup.recv().await),
            None => std::future::pending().await,
        }
    }
}

/// Was the process started to outlive its terminal? The mask of ignored signals tells: its lowest bit is SIGHUP's.
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
