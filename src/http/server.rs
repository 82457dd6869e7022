//! Connections: accepts them, limits them, and waits for them at shutdown.
//!
//! Invariant: a client that neither sends nor reads loses its connection. A server that shuts down finishes the
//! requests that it has started.

use super::connection::{IncomingBody, MinReadRate, Socket, TrackedBody};
use super::connection_slots::{Slot, SlotOutcome, Slots};
use super::dispatch::{Dispatcher, DroppedAnswer};
use super::live_streams::Handover;
use super::plain_http::PlainHttp;
use super::route::ListenerRoutes;
use super::state::HttpState;
use super::tls::{ClientStream, Tls};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Maximum number of connections. At the maximum, a new connection replaces the connection that has waited
    /// longest for its client. If no connection waits for its client, the new connection must wait.
    pub connections_max: usize,
    /// `true` if clients on this machine, for example local proxies, are limited to a quarter of the connections,
    /// like other clients.
    pub loopback_is_limited: bool,
    /// Time limit for receiving the header of a request, and for the pause between two requests, in milliseconds.
    pub header_timeout_ms: u64,
    /// Time limit for receiving a body, in milliseconds.
    pub body_timeout_ms: u64,
    /// Period over which a client's read rate is measured, in milliseconds. Only time spent waiting for the client is
    /// included.
    pub write_span_ms: u64,
    /// Minimum number of bytes that a client must read in `write_span_ms`.
    pub write_bytes_min: u64,
    /// Maximum time that the server waits for answers in progress at shutdown, in milliseconds.
    pub drain_timeout_ms: u64,
    /// Maximum time that the server waits for a client to send or read at shutdown, in milliseconds.
    pub drain_client_ms: u64,
}

impl Default for ConnectionLimits {
    fn default() -> ConnectionLimits {
        ConnectionLimits {
            connections_max: 4096,
            loopback_is_limited: false,
            header_timeout_ms: 30_000,
            body_timeout_ms: 10_000,
            write_span_ms: 30_000,
            write_bytes_min: 30 * 1024,
            drain_timeout_ms: 10_000,
            drain_client_ms: 1_000,
        }
    }
}

/// Size of hyper's buffer for a request, in bytes. Our own limit on headers is lower.
const BUFFER_BYTES_MAX: usize = 32 * 1024;
/// Pause after a failed accept, for example if no file descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Pause between two searches for a connection to close while all slots are used.
const SLOT_SEARCH_PAUSE: Duration = Duration::from_millis(50);
/// Number of searches for silent clients within their time limit. A silent client is disconnected up to a tenth of
/// the limit too late.
const SILENT_SEARCHES: u64 = 10;
/// Number of searches within `drain_client_ms` at shutdown, for connections that wait too long for their client.
const DRAIN_SEARCHES: u64 = 4;
/// Longest pause between two searches at shutdown, in milliseconds.
const DRAIN_PAUSE_MS: u64 = 250;

/// A listening socket before it is served.
pub struct Listener {
    inner: TcpListener,
    purpose: Purpose,
}

enum Purpose {
    /// Routes, with or without TLS.
    Routes(ListenerRoutes, Option<Arc<Tls>>),
    /// Plain HTTP beside a listener with TLS.
    Plain(Arc<PlainHttp>),
}

struct Acceptor {
    http: Arc<HttpState>,
    limits: ConnectionLimits,
    slots: Arc<Slots>,
    protocol: Protocol,
    answers: Answers,
    tls: Option<Arc<Tls>>,
    graceful: GracefulShutdown,
}

#[derive(Clone)]
struct Protocol {
    builder: http1::Builder,
    pace: MinReadRate,
}

#[derive(Clone)]
enum Answers {
    Routes(Arc<Dispatcher>),
    Plain(Arc<PlainHttp>),
}

impl Listener {
    /// Wraps a listening socket, which will serve these routes. Must be called inside the runtime that serves the
    /// socket.
    pub fn new(
        socket: std::net::TcpListener,
        scope: ListenerRoutes,
        tls: Option<Arc<Tls>>,
    ) -> io::Result<Listener> {
        Listener::with_purpose(socket, Purpose::Routes(scope, tls))
    }

    /// Wraps a listening socket for plain HTTP beside a listener with TLS. Must be called inside the runtime that
    /// serves the socket.
    pub fn plain(socket: std::net::TcpListener, plain: Arc<PlainHttp>) -> io::Result<Listener> {
        Listener::with_purpose(socket, Purpose::Plain(plain))
    }

    fn with_purpose(socket: std::net::TcpListener, purpose: Purpose) -> io::Result<Listener> {
        socket.set_nonblocking(true)?;
        TcpListener::from_std(socket).map(|inner| Listener { inner, purpose })
    }

    /// Serves connections until `stop` is true, then waits for answers in progress.
    pub async fn serve(
        self,
        http: Arc<HttpState>,
        limits: ConnectionLimits,
        mut stop: watch::Receiver<bool>,
    ) {
        let acceptor = Acceptor::new(http, self.purpose, limits);
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => {}
            () = acceptor.accept_from(&self.inner) => {}
            () = acceptor.close_silent() => {}
        }
        acceptor.http.close();
        drop(self.inner);
        acceptor.drain().await;
    }
}

impl Acceptor {
    fn new(http: Arc<HttpState>, purpose: Purpose, limits: ConnectionLimits) -> Acceptor {
        let slots = Slots::new(limits.connections_max, http.clock.stopwatch());
        let mut builder = http1::Builder::new();
        // Hyper's own header timeout would create a timer for each request. `close_silent` enforces the time limit
        // instead.
        builder.header_read_timeout(None).max_buf_size(BUFFER_BYTES_MAX);
        let pace = MinReadRate::new(limits.write_bytes_min, limits.write_span_ms);
        let (answers, tls) = match purpose {
            Purpose::Routes(scope, tls) => {
                let dispatcher = Dispatcher::new(Arc::clone(&http), scope, tls.is_some());
                (Answers::Routes(Arc::new(dispatcher)), tls)
            }
            Purpose::Plain(plain) => (Answers::Plain(plain), None),
        };
        let (protocol, graceful) = (Protocol { builder, pace }, GracefulShutdown::new());
        Acceptor { http, limits, slots, protocol, answers, tls, graceful }
    }

    /// Accepts connections in an endless loop.
    async fn accept_from(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let peer = peer.ip().to_canonical();
                    match self.slot_for(peer).await {
                        Some(slot) => self.serve(stream, peer, slot),
                        None => log::debug!("connection refused, too many: client={peer}"),
                    }
                }
                Err(error) => {
                    log::warn!("connection not accepted: error={error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Closes connections whose client does not send a complete header in time, in an endless loop.
    async fn close_silent(&self) {
        let most_ms = self.limits.header_timeout_ms;
        let pause_ms = most_ms.div_euclid(SILENT_SEARCHES).max(1);
        loop {
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            self.slots.close_silent(Duration::from_millis(most_ms));
        }
    }

    /// Waits for a slot for a connection of this peer. Returns `None` if the client has used its share of the slots.
    async fn slot_for(&self, peer: IpAddr) -> Option<Slot> {
        let is_proxy = (self.http.trusted_proxy)(peer);
        let is_near = peer.is_loopback() && !self.limits.loopback_is_limited;
        let client = (!is_proxy && !is_near).then_some(peer);
        loop {
            match self.slots.take_slot(client) {
                SlotOutcome::Granted(slot) => return Some(slot),
                SlotOutcome::TooMany => return None,
                SlotOutcome::Full => {
                    // The next search starts when a connection has ended, or after the pause.
                    let _ =
                        tokio::time::timeout(SLOT_SEARCH_PAUSE, self.slots.wait_for_free()).await;
                }
            }
        }
    }

    /// Serves one connection in a task of its own.
    fn serve(&self, stream: TcpStream, peer: IpAddr, slot: Slot) {
        // Sends small answers at once. If the option cannot be set, small answers are only delayed.
        let _ = stream.set_nodelay(true);
        let (answers, slot) = (self.answers.clone(), Arc::new(slot));
        let seat = Arc::clone(&slot.seat);
        let task = match &self.tls {
            None => {
                let stream = ClientStream::Plain(stream);
                let connection = self.protocol.connect(stream, peer, answers, slot);
                tokio::spawn(log_end(self.graceful.watch(connection)))
            }
            Some(tls) => {
                let (tls, protocol) = (Arc::clone(tls), self.protocol.clone());
                let watcher = self.graceful.watcher();
                tokio::spawn(async move {
                    let stream = match tls.accept(stream).await {
                        Ok(Some(stream)) => stream,
                        Ok(None) => return,
                        Err(error) => return log::debug!("handshake failed: error={error}"),
                    };
                    let answers = match &stream {
                        ClientStream::Plain(_) => Answers::Plain(Arc::clone(&tls.plain)),
                        ClientStream::Tls(_) => answers,
                    };
                    // The time for the first request starts after the handshake.
                    slot.seat.end_wait(0);
                    let connection = protocol.connect(stream, peer, answers, slot);
                    log_end(watcher.watch(connection)).await;
                })
            }
        };
        seat.set_task(task.abort_handle());
    }

    /// Waits for answers in progress. Closes idle connections, and connections that wait too long for their client.
    async fn drain(self) {
        let client_ms = self.limits.drain_client_ms;
        let pause_ms = client_ms.div_euclid(DRAIN_SEARCHES).clamp(1, DRAIN_PAUSE_MS);
        let end_waiting = async {
            loop {
                self.slots.close_waiting_connections(Duration::from_millis(client_ms));
                tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            }
        };
        let most_ms = self.limits.drain_timeout_ms;
        tokio::select! {
            // Hyper's shutdown does not wait for live streams, but their slots are used until their last bytes are
            // sent.
            () = async { tokio::join!(self.graceful.shutdown(), self.slots.wait_until_empty()); } => {}
            () = end_waiting => {}
            () = tokio::time::sleep(Duration::from_millis(most_ms)) => {
                log::warn!("responses cut off at shutdown: ms={most_ms}");
            }
        }
    }
}

impl Protocol {
    /// Returns the connection of a stream, which answers its requests when polled.
    fn connect(
        &self,
        stream: ClientStream,
        peer: IpAddr,
        answers: Answers,
        slot: Arc<Slot>,
    ) -> impl GracefulConnection<Error = hyper::Error> + use<> {
        let (seat, handover) = (Arc::clone(&slot.seat), Handover::default());
        let socket = Socket::new(stream, seat, self.pace, handover.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let answers = answers.clone();
            let (slot, handover) = (Arc::clone(&slot), handover.clone());
            async move {
                let (seat, version) = (Arc::clone(&slot.seat), request.version());
                let request = request.map(|body| IncomingBody::new(body, Arc::clone(&seat)));
                let answering = seat.begin_request().await;
                let response = match answers {
                    Answers::Routes(dispatcher) => dispatcher.dispatch(peer, request).await?,
                    Answers::Plain(plain) => plain.answer(&request),
                };
                Ok::<_, DroppedAnswer>(
                    response
                        .map(|body| TrackedBody::new(body, answering, &slot, &handover, version)),
                )
            }
        });
        self.builder.serve_connection(socket, service)
    }
}

async fn log_end<T>(connection: impl Future<Output = Result<T, hyper::Error>>) {
    if let Err(error) = connection.await {
        log::debug!("connection ended: error={error}");
    }
}
