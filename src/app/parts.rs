//! Starts the parts of a server one after the other, and stops them in the reverse order.
//!
//! Invariant: a part stops before the parts that it needs, and the last user of the database file closes it.

mod certificate;
mod controls;
mod mail;
mod watching;

pub(super) use certificate::check_acme;

use super::commits::commit_hook;
use super::following::{self, Followers};
use super::sockets::{MainSocket, bind, listening_url, routes_by_socket};
use super::{Config, open_files};
use crate::chain::follow::AddressPools;
use crate::chain::setting::FollowedNodeUrls;
use crate::clock::Clock;
use crate::http::{self, ConnectionLimits, HttpSettings, Listener, Subscribers, Throttle};
use crate::outbound::{Guard, OutboundClient};
use crate::render::LinkBuilder;
use crate::service::activity::Activity;
use crate::service::clock::stored_clock;
use crate::service::followed::nodes::NodeControl;
use crate::service::{Caches, Error, Service, init_file, sandbox};
use crate::store::file::FileRow;
use crate::store::{Durability, FileKind, Store, StoreOptions};
use crate::worker::command::{Command, Program};
use crate::worker::command_job::{CommandJob, CommandRunner};
use crate::worker::deliver::{DeliveryLimits, DeliveryWorker};
use crate::worker::expire::ExpiryWorker;
use crate::worker::provision::ProvisionJob;
use crate::worker::prune::PruningWorker;
use crate::worker::send::SignerJob;
use crate::worker::watch_chain::ChainWakers;
use crate::worker::{Waker, Wakers, run_worker};
use certificate::AcmeParts;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Age up to which a stopping server waits for an attempt to deliver a webhook, in milliseconds. An attempt that is cut
/// off is made again after the next start, so the receiver gets the webhook twice.
const FINISH_MS: i64 = 3_000;
/// The same in a sandbox, where a quick stop is worth more than a webhook that comes once.
const SANDBOX_FINISH_MS: i64 = 200;

pub(super) struct RunningParts {
    /// Tasks that start work in other tasks: the HTTP servers, and the workers that run the operator's programs.
    http_tasks: Vec<JoinHandle<()>>,
    commands: Vec<JoinHandle<()>>,
    stop_http: watch::Sender<bool>,
    workers: Vec<JoinHandle<()>>,
    stop_workers: watch::Sender<bool>,
    followers: Arc<Followers>,
}

pub(super) struct StartedServer {
    pub(super) runtime: Runtime,
    pub(super) parts: RunningParts,
    pub(super) url: String,
    pub(super) listen: SocketAddr,
    pub(super) metrics_listen: Option<SocketAddr>,
    /// Link that creates the first operator, while there is none.
    pub(super) setup_url: Option<String>,
}

struct SharedParts {
    service: Arc<Service>,
    clock: Arc<Clock>,
    wakers: Wakers,
    subscribers: Arc<Subscribers>,
    throttle: Arc<Throttle>,
    outbound: OutboundClient,
    /// Addresses watched on the followed chains.
    pools: Arc<AddressPools>,
    chain_wakers: Arc<ChainWakers>,
    /// Nodes of the settings, and nodes of the file for other chains.
    nodes: FollowedNodeUrls,
    /// Number of times that a person has accepted the wall clock.
    clock_accepted: i64,
}

fn store_options(config: &Config, file: &Path, durability: Durability) -> StoreOptions {
    StoreOptions {
        path: file.to_owned(),
        kind: Some(config.kind),
        durability,
        create: true,
        exclusive: true,
        tell: config.tell,
    }
}

impl RunningParts {
    pub(super) fn start(
        config: Config,
        file: &Path,
        durability: Durability,
    ) -> Result<StartedServer, Error> {
        let bind = |address| bind(address, config.limits.write_span_ms);
        let (socket, address) = bind(config.listen)?;
        let metrics = config.metrics_listen.map(bind).transpose()?;
        let metrics_listen = metrics.as_ref().map(|(_, address)| *address);
        let limits = ConnectionLimits {
            connections_max: open_files::raise_open_file_limit(config.limits.connections_max),
            ..config.limits
        };
        let acme = config.acme.clone();
        let acme = acme.map(|settings| AcmeParts::open(settings, file, bind)).transpose()?;
        let url = config.public_url.clone().unwrap_or_else(|| match &config.acme {
            Some(settings) => settings.origin(),
            None => listening_url(address),
        });
        let (shared, runtime) =
            SharedParts::open(&store_options(&config, file, durability), &config, &url)?;
        let tls = acme.as_ref().map(|acme| acme.tls());
        let has_metrics = tls.is_none() || config.metrics_token.is_some();
        let main = MainSocket { socket, address, tls, has_metrics };
        let mut listeners = routes_by_socket(&runtime, main, metrics, limits)?;
        let (setup, is_begun) = shared.prepare_file(&runtime, config.kind)?;
        let setup_url = setup.map(|token| format!("{url}/setup?token={token}"));
        let proxies = config.trusted_proxy.clone();
        let (pools, wakers) = (Arc::clone(&shared.pools), Arc::clone(&shared.chain_wakers));
        let (nodes, clock) = (config.nodes.clone(), Arc::clone(&shared.clock));
        let followers = Arc::new(Followers::new(nodes, &shared.service, pools, wakers, clock));
        let (stop_http, no_more) = watch::channel(false);
        let sockets = [Some(address), metrics_listen];
        let settings = HttpSettings {
            public_url: url.clone(),
            creations_per_minute: config.creations_per_minute,
            link_invoices_per_minute: config.link_invoices_per_minute,
            trusted_proxy: Box::new(move |address| {
                proxies.iter().any(|range| range.contains(address))
            }),
            body_timeout_ms: config.limits.body_timeout_ms,
            password_limits: config.password_limits,
            metrics_token: config.metrics_token.clone(),
            subscribers: Arc::clone(&shared.subscribers),
            throttle: Arc::clone(&shared.throttle),
            sandbox: shared.sandbox_settings(&config, file, sockets, &no_more),
            nodes: (config.kind == FileKind::Production)
                .then(|| Arc::clone(&followers) as Arc<dyn NodeControl>),
        };
        let http = http::create_state(shared.service.clone(), shared.clock.clone(), settings)?;
        let commands = match is_begun {
            true => shared.start_command_workers(&runtime, &config, &no_more),
            false => Vec::new(),
        };
        let (stop_workers, stopped) = watch::channel(false);
        let watch = shared.start_watching_clock(&runtime, config.kind, &stopped);
        let rates = shared.start_rate_worker(&runtime, &config, &stopped);
        followers.start_all(&shared.nodes)?;
        let acme = match acme {
            Some(acme) => Some(acme.start(&runtime, &shared, limits, &mut listeners, &stopped)?),
            None => None,
        };
        let mail = shared.start_mail_workers(&runtime, &config, &url, &stopped)?;
        let rest = shared.start_workers(&runtime, &config, &stopped);
        let workers =
            watch.into_iter().chain(rates).chain(acme).chain(mail).chain([rest]).collect();
        let serve = |(listener, limits): (Listener, ConnectionLimits)| {
            runtime.spawn(listener.serve(Arc::clone(&http), limits, no_more.clone()))
        };
        let http_tasks = listeners.into_iter().map(serve).collect();
        let parts =
            RunningParts { http_tasks, commands, stop_http, workers, stop_workers, followers };
        Ok(StartedServer { runtime, parts, url, listen: address, metrics_listen, setup_url })
    }

    /// Stops accepting requests and starting programs. Responses in progress and a running program finish in
    /// parallel. Workers stop after the last response, because a response may wait for a worker.
    pub(super) async fn stop(self) {
        self.followers.ask_to_stop();
        self.stop_http.send_replace(true);
        wait_for_tasks("a listener", self.http_tasks).await;
        self.stop_workers.send_replace(true);
        wait_for_tasks("a command", self.commands).await;
        wait_for_tasks("a worker", self.workers).await;
        self.followers.wait_for_end();
    }
}

async fn wait_for_tasks(name: &str, parts: Vec<JoinHandle<()>>) {
    for part in parts {
        if let Err(error) = part.await {
            log::error!("unclean stop: part={name} error={error}");
        }
    }
}

impl SharedParts {
    /// Opens the database file and creates the service. The runtime is created while the file is opened.
    fn open(
        opening: &StoreOptions,
        config: &Config,
        url: &str,
    ) -> Result<(SharedParts, Runtime), Error> {
        let (wakers, caches) = (Wakers::default(), Arc::new(Caches::default()));
        let subscribers = Arc::new(Subscribers::default());
        let (pools, chain_wakers) =
            (Arc::new(AddressPools::default()), Arc::new(ChainWakers::default()));
        let watched = (config.kind == FileKind::Production).then(|| Arc::clone(&pools));
        let activity = (config.kind == FileKind::Sandbox).then(Arc::<Activity>::default);
        let store = Store::open(
            opening,
            commit_hook(&wakers, &caches, &subscribers, watched, activity.clone(), &chain_wakers),
        )?;
        let begun = init_file(&store, config.kind, |tx, row| match row.kind {
            FileKind::Sandbox => sandbox::seed_if_empty(tx, sandbox_clock(row).now()),
            FileKind::Production => Ok(()),
        })?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| Error::Failed(error.to_string()))?;
        let row = begun()?;
        let (seen, clock_accepted) = stored_clock(&store)?;
        let clock = match config.kind {
            FileKind::Sandbox => sandbox_clock(&row),
            FileKind::Production => Clock::steady(config.time.clone(), seen),
        };
        let guard = Guard::new(config.kind == FileKind::Sandbox, config.webhook_allow.clone());
        let outbound = OutboundClient::new(guard, config.webhook_timeout_ms);
        let asked = outbound.clone();
        let check = Box::new(move |url: &str| asked.guard().check_url(url));
        let links =
            LinkBuilder { public_url: url.to_owned(), checkout_secret: row.checkout_secret };
        let has_signer = config.kind == FileKind::Production && config.signer.is_some();
        let nodes = following::followed_nodes(config, &store, url, &clock)?;
        let live = following::live_mode(&nodes, has_signer);
        let limits = config.server_limits;
        let service = Service::new(store, links, config.kind, check, limits, caches, live);
        let watch = config.acme.is_some().then(Arc::default);
        let service = service.with_activity(activity).with_certificate(watch);
        let service = Arc::new(service.with_mail(mail::identity(config)));
        let throttle = Throttle::new(clock.stopwatch(), config.password_limits);
        let shared = SharedParts {
            service,
            clock: Arc::new(clock),
            wakers,
            subscribers,
            throttle: Arc::new(throttle),
            outbound,
            pools,
            chain_wakers,
            nodes,
            clock_accepted,
        };
        Ok((shared, runtime))
    }

    /// Prepares the database file. Returns the setup token, and `true` if programs may run. In production, also ends
    /// the work that an earlier process left unfinished. If the disk is full, the server starts read-only and runs no
    /// programs.
    fn prepare_file(
        &self,
        runtime: &Runtime,
        kind: FileKind,
    ) -> Result<(Option<String>, bool), Error> {
        let begun = match kind {
            FileKind::Sandbox => self.service.start_mail_cursor(self.clock.now()).map(|()| None),
            FileKind::Production => self.prepare_production_file(runtime),
        };
        // No other connection reads the file yet. Two connections that read the schema at the same time would wait
        // for each other.
        self.service.check_file()?;
        match begun {
            Err(error) if self.service.check_writes().is_err() && !self.service.is_damaged() => {
                log::error!("started for reads only, restart to run commands: error={error}");
                Ok((None, false))
            }
            begun => Ok((begun?, true)),
        }
    }

    /// Ends the work that an earlier process left unfinished. Returns the setup token if there is no operator yet.
    fn prepare_production_file(&self, runtime: &Runtime) -> Result<Option<String>, Error> {
        let (service, now) = (&self.service, self.clock.now());
        service.record_interrupted_job(now)?;
        service.start_mail_cursor(now)?;
        runtime.block_on(service.settle_stale_destinations(now))?;
        runtime.block_on(service.record_interrupted_commands(now))?;
        service.create_setup_link(now)
    }

    /// Starts the workers that run the operator's programs. A sandbox has no such workers.
    fn start_command_workers(
        &self,
        runtime: &Runtime,
        config: &Config,
        stop: &watch::Receiver<bool>,
    ) -> Vec<JoinHandle<()>> {
        let allowed = config.kind == FileKind::Production;
        let command = |program: &Option<Program>| {
            program.clone().filter(|_| allowed).map(|program| Command {
                program,
                timeout: Duration::from_millis(config.command_timeout_ms),
                stop: stop.clone(),
                stop_grace: Duration::from_millis(config.command_drain_ms),
            })
        };
        let service = || Arc::clone(&self.service);
        let provisioner = command(&config.provisioner).map(|command| {
            let job = ProvisionJob { service: service() };
            self.start_command_worker(runtime, job, command, &self.wakers.provision)
        });
        let signer = command(&config.signer).map(|command| {
            let job = SignerJob { service: service() };
            self.start_command_worker(runtime, job, command, &self.wakers.send)
        });
        provisioner.into_iter().chain(signer).collect()
    }

    /// Starts the worker that runs one of the operator's programs.
    fn start_command_worker<J: CommandJob>(
        &self,
        runtime: &Runtime,
        job: J,
        command: Command,
        waker: &Waker,
    ) -> JoinHandle<()> {
        let (clock, stop) = (Arc::clone(&self.clock), command.stop.clone());
        let runner = CommandRunner::new(job, command, Arc::clone(&clock));
        runtime.spawn(run_worker(runner, clock, waker.clone(), stop))
    }

    fn start_workers(
        self,
        runtime: &Runtime,
        config: &Config,
        stop: &watch::Receiver<bool>,
    ) -> JoinHandle<()> {
        let SharedParts {
            service,
            clock,
            wakers,
            subscribers: _,
            outbound,
            pools: _,
            chain_wakers: _,
            nodes: _,
            throttle: _,
            clock_accepted: _,
        } = self;
        let expire = ExpiryWorker { service: Arc::clone(&service) };
        let prune = PruningWorker::new(
            Arc::clone(&service),
            config.keep_attempts_ms,
            config.kind == FileKind::Production,
        );
        let limits = match config.kind {
            // A clock move waits for all due work, so no receiver is paused.
            FileKind::Sandbox => {
                DeliveryLimits { pause_ms: 0, finish_ms: SANDBOX_FINISH_MS, is_serial: true }
            }
            FileKind::Production => DeliveryLimits {
                pause_ms: i64::from(config.webhook_pause_ms),
                finish_ms: FINISH_MS,
                is_serial: false,
            },
        };
        let waker = wakers.deliver.clone();
        let deliver = DeliveryWorker::new(service, Arc::clone(&clock), outbound, waker, limits);
        let stop = || stop.clone();
        let expire = run_worker(expire, Arc::clone(&clock), wakers.expire, stop());
        let deliver = run_worker(deliver, Arc::clone(&clock), wakers.deliver, stop());
        let prune = run_worker(prune, clock, wakers.prune, stop());
        // The three workers share one task, because they all read through one connection.
        runtime.spawn(async {
            tokio::join!(expire, deliver, prune);
        })
    }
}

fn sandbox_clock(row: &FileRow) -> Clock {
    Clock::new(row.clock_offset_ms, row.clock_frozen_at)
}
