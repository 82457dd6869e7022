//! Wiring: opens, starts, and stops in the reverse order.
//!
//! What lives here: which part is given which other part. What does not: any rule. What always holds: a part is
//! stopped before what it needs is.

mod control;

use crate::clock::Clock;
use crate::domain::render::Links;
use crate::http::{Front, Limits, Listener, Settings};
use crate::outbound::{Cidr, Guard, Outbound};
use crate::service::{Caches, Error, Service, begin_file};
use crate::store::open::with_suffix;
use crate::store::{Changes, Durability, Kind, Opening, Store};
use crate::worker::deliver::Deliver;
use crate::worker::expire::Expire;
use crate::worker::prune::Prune;
use crate::worker::{Bells, run};
use control::SandboxControl;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The sandbox or the real thing.
    pub kind: Kind,
    /// The file; nothing: a temporary one that is removed at the end.
    pub file: Option<PathBuf>,
    /// Where to listen; port 0 picks a free one.
    pub listen: SocketAddr,
    /// What urls in answers begin with; nothing: the listening address.
    pub public_url: Option<String>,
    /// Invoices a key may make in a minute; 0: no limit.
    pub creations_per_minute: u32,
    /// Address ranges that webhooks may reach although they are not public.
    pub webhook_allow: Vec<Cidr>,
    /// How long a webhook's receiver may take.
    pub webhook_timeout_ms: u64,
    /// May the sandbox listen off loopback?
    pub allow_remote: bool,
}

impl Config {
    /// A sandbox on a free port of loopback, in a temporary file.
    pub fn sandbox() -> Config {
        Config {
            kind: Kind::Sandbox,
            file: None,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            public_url: None,
            creations_per_minute: 0,
            webhook_allow: Vec::new(),
            webhook_timeout_ms: 10_000,
            allow_remote: false,
        }
    }
}

/// A running server. Dropping it stops it: no new requests, those under way are answered, workers finish the job in
/// hand, the writer commits, and a temporary file is removed.
pub struct Server {
    url: String,
    file: PathBuf,
    temporary: bool,
    runtime: Option<Runtime>,
    parts: Option<Parts>,
}

/// What runs, in the order in which it was started.
struct Parts {
    service: Arc<Service>,
    stop_workers: watch::Sender<bool>,
    workers: Vec<JoinHandle<()>>,
    stop_front: watch::Sender<bool>,
    front: JoinHandle<()>,
}

impl Server {
    /// Starts a server and returns once it answers.
    ///
    /// # Errors
    /// A text for a person: the file cannot be opened, the address cannot be bound.
    pub fn start(config: Config) -> Result<Server, Error> {
        if config.kind == Kind::Sandbox && !config.allow_remote && !config.listen.ip().is_loopback()
        {
            let address = config.listen;
            return Err(Error::Failed(format!(
                "a sandbox listens off loopback ({address}) with --allow-remote only"
            )));
        }
        let failed = |error: std::io::Error| Error::Failed(error.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(failed)?;
        let temporary = config.file.is_none();
        let file = config.file.clone().map_or_else(temporary_file, Ok)?;
        let mut server = Server {
            url: String::new(),
            file,
            temporary,
            runtime: Some(runtime),
            parts: None,
        };
        server.start_parts(config)?;
        Ok(server)
    }

    /// Starts every part; on an error, dropping the server stops those that were started.
    fn start_parts(&mut self, config: Config) -> Result<(), Error> {
        let Some(runtime) = &self.runtime else {
            return Ok(());
        };
        let (bells, caches) = (Bells::default(), Arc::new(Caches::default()));
        let durability = if self.temporary {
            Durability::Process
        } else {
            Durability::Full
        };
        let opening = Opening {
            path: self.file.clone(),
            durability,
            create: true,
            exclusive: true,
        };
        let store = Store::open(&opening, on_commit(&bells, &caches))?;
        let row = begin_file(&store, config.kind)?;
        let clock = Arc::new(match config.kind {
            Kind::Sandbox => Clock::new(row.clock_offset_ms, row.clock_frozen_at),
            Kind::Production => Clock::new(0, None),
        });
        let bind_failed =
            |error: std::io::Error| Error::Failed(format!("{}: {error}", config.listen));
        let listener = runtime
            .block_on(Listener::bind(config.listen))
            .map_err(bind_failed)?;
        let address = listener.address().map_err(bind_failed)?;
        self.url = config.public_url.clone().unwrap_or_else(|| url_of(address));
        let guard = Guard::new(config.kind == Kind::Sandbox, config.webhook_allow);
        let links = Links {
            public_url: self.url.clone(),
            checkout_secret: row.checkout_secret,
        };
        let outbound = Outbound::new(guard, config.webhook_timeout_ms);
        let asked = outbound.clone();
        let check = Box::new(move |url: &str| asked.guard().check_url(url));
        let service = Arc::new(Service::new(store, links, config.kind, check, caches));
        let control = match config.kind {
            Kind::Sandbox => {
                service.seed(clock.now())?;
                Some(SandboxControl::new(
                    Arc::clone(&service),
                    Arc::clone(&clock),
                    bells.clone(),
                ))
            }
            Kind::Production => None,
        };
        let settings = Settings {
            public_url: self.url.clone(),
            creations_per_minute: config.creations_per_minute,
            sandbox: control
                .map(|control| (Arc::new(control) as Arc<dyn crate::http::Control>, address)),
        };
        let front = Arc::new(Front::new(
            Arc::clone(&service),
            Arc::clone(&clock),
            settings,
        )?);
        let (stop_workers, stopped) = watch::channel(false);
        let deliver = Deliver::new(
            Arc::clone(&service),
            Arc::clone(&clock),
            outbound,
            bells.deliver.clone(),
        );
        let expire = Expire {
            service: Arc::clone(&service),
        };
        let prune = Prune::new(Arc::clone(&service));
        let workers = vec![
            runtime.spawn(run(
                expire,
                Arc::clone(&clock),
                bells.expire,
                stopped.clone(),
            )),
            runtime.spawn(run(
                deliver,
                Arc::clone(&clock),
                bells.deliver,
                stopped.clone(),
            )),
            runtime.spawn(run(prune, clock, bells.prune, stopped)),
        ];
        let (stop_front, stopped) = watch::channel(false);
        let front = runtime.spawn(listener.serve(front, Limits::default(), stopped));
        self.parts = Some(Parts {
            service,
            stop_workers,
            workers,
            stop_front,
            front,
        });
        Ok(())
    }

    /// The url it is known by, without `/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The file it works on.
    pub fn file(&self) -> &std::path::Path {
        &self.file
    }

    /// Runs until the process is asked to end, or `other` does.
    pub fn run_until_asked(&self, other: impl Future<Output = ()>) {
        let Some(runtime) = &self.runtime else { return };
        runtime.block_on(async {
            tokio::select! {
                () = asked_to_end() => {}
                () = other => {}
            }
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        if let Some(parts) = self.parts.take() {
            runtime.block_on(parts.stop());
        }
        drop(runtime);
        if self.temporary {
            for suffix in ["", "-wal", "-shm", "-lock", "-new"] {
                // What is not there needs no removing.
                let _ = std::fs::remove_file(with_suffix(&self.file, suffix));
            }
        }
    }
}

impl Parts {
    /// Stops everything in the reverse order of its start; the last to let go of the file closes it.
    async fn stop(self) {
        self.stop_front.send_replace(true);
        if let Err(error) = self.front.await {
            log::error!("the front did not end well: {error}");
        }
        self.stop_workers.send_replace(true);
        for worker in self.workers {
            if let Err(error) = worker.await {
                log::error!("a worker did not end well: {error}");
            }
        }
        drop(self.service);
    }
}

/// What a commit sets off: copies are dropped, workers are woken.
fn on_commit(bells: &Bells, caches: &Arc<Caches>) -> Box<dyn Fn(&Changes) + Send + Sync> {
    let (bells, caches) = (bells.clone(), Arc::clone(caches));
    Box::new(move |changes| {
        caches.forget(changes);
        if changes.everything {
            bells.ring_all();
            return;
        }
        if changes.deliveries {
            bells.deliver.ring();
        }
        if changes.deadlines {
            bells.expire.ring();
        }
    })
}

/// A name in the system's folder for temporary files that nobody else has.
fn temporary_file() -> Result<PathBuf, Error> {
    let name = crate::domain::signature::hex(&crate::service::random::<8>()?);
    Ok(std::env::temp_dir().join(format!("coffer-sandbox-{name}.db")))
}

/// The url of a listening address; one that means "every address" is called by loopback's.
fn url_of(address: SocketAddr) -> String {
    match address.ip() {
        ip if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
        _ => format!("http://{address}"),
    }
}

/// Ends when SIGTERM or SIGINT comes.
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return log::error!("signals cannot be heard");
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
