//! Connections: accepting them, limiting them, letting them end.
//!
//! What always holds: a client that neither sends nor reads loses its connection, and a stopping server finishes
//! the requests that it has begun.

use super::connection::{Arriving, Pace, Socket, UnderWay};
use super::dispatch::{Dispatcher, Dropped};
use super::front::Front;
use super::live::Handover;
use super::places::{Place, Places, Wish};
use super::route::Scope;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::server::graceful::GracefulShutdown;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What connections may ask of the server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once. Where all are taken, the one that has waited longest for its client makes place for the
    /// next; where none waits, the next one does.
    pub connections_max: usize,
    /// Has one client on this machine at most a quarter of the connections too, as others have? Proxies run here.
    pub loopback_is_limited: bool,
    /// How long a header may take to arrive, also the wait between two requests.
    pub header_timeout_ms: u64,
    /// How long a body may take to arrive.
    pub body_timeout_ms: u64,
    /// The time over which it is judged whether a client takes its answers, counted while the server waits for it.
    pub write_span_ms: u64,
    /// What a client must take in that time.
    pub write_bytes_min: u64,
    /// How long a stopping server waits for answers under way.
    pub drain_timeout_ms: u64,
    /// How long a stopping server waits for a client that has to send or to take something.
    pub drain_client_ms: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
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

/// What hyper buffers of a request; our own limit on headers is below it.
const BUFFER_BYTES_MAX: usize = 32 * 1024;
/// How long to wait after accepting failed, for example because there are no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a connection waits for a place before it is looked again whether another has become idle.
const PLACE_PAUSE: Duration = Duration::from_millis(50);
/// How often it is looked for clients that ask for nothing, within the time that they have: so they are cut off a tenth
/// of it late at most.
const SILENCE_LOOKS: u64 = 10;
/// How often a stopping server looks, within the time that a client has.
const DRAIN_LOOKS: u64 = 4;
/// The longest pause between two such looks.
const DRAIN_PAUSE_MS: u64 = 250;

/// A socket that is not served yet.
pub struct Listener {
    inner: TcpListener,
    scope: Scope,
}

/// What serves connections.
struct Acceptor {
    dispatcher: Arc<Dispatcher>,
    limits: Limits,
    places: Arc<Places>,
    builder: http1::Builder,
    graceful: GracefulShutdown,
}

impl Listener {
    /// Takes a socket that listens already, to serve these paths. To be called inside the runtime that is to serve it.
    ///
    /// # Errors
    /// The system's.
    pub fn new(socket: std::net::TcpListener, scope: Scope) -> io::Result<Listener> {
        socket.set_nonblocking(true)?;
        TcpListener::from_std(socket).map(|inner| Listener { inner, scope })
    }

    /// Serves until `stop` is true, then lets what has begun come to its end.
    pub async fn serve(self, front: Arc<Front>, limits: Limits, mut stop: watch::Receiver<bool>) {
        let dispatcher = Arc::new(Dispatcher::new(front, self.scope));
        let acceptor = Acceptor::new(dispatcher, limits);
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => {}
            () = acceptor.accept_from(&self.inner) => {}
            () = acceptor.end_silent() => {}
        }
        acceptor.dispatcher.front.close();
        drop(self.inner);
        acceptor.drain().await;
    }
}

impl Acceptor {
    fn new(dispatcher: Arc<Dispatcher>, limits: Limits) -> Acceptor {
        let places = Places::new(limits.connections_max, dispatcher.front.clock.stopwatch());
        let mut builder = http1::Builder::new();
        // Hyper's own limit on the time of a header would be a new timer for each request: `end_silent` is the limit.
        builder
            .header_read_timeout(None)
            .max_buf_size(BUFFER_BYTES_MAX);
        Acceptor {
            dispatcher,
            limits,
            places,
            builder,
            graceful: GracefulShutdown::new(),
        }
    }

    /// Takes one connection after the other, for ever.
    async fn accept_from(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let peer = peer.ip().to_canonical();
                    match self.place_for(peer).await {
                        Some(place) => self.serve(stream, peer, place),
                        None => log::debug!("{peer} has too many connections"),
                    }
                }
                Err(error) => {
                    log::warn!("a connection could not be accepted: {error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Ends the connections on which no header comes in its time, for ever.
    async fn end_silent(&self) {
        let most_ms = self.limits.header_timeout_ms;
        let pause_ms = most_ms.div_euclid(SILENCE_LOOKS).max(1);
        loop {
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            self.places.end_silent(Duration::from_millis(most_ms));
        }
    }

    /// A place for a connection from here, waited for where all are taken; nothing where this client has its share.
    async fn place_for(&self, peer: IpAddr) -> Option<Place> {
        let is_proxy = (self.dispatcher.front.trusted_proxy)(peer);
        let is_near = peer.is_loopback() && !self.limits.loopback_is_limited;
        let client = (!is_proxy && !is_near).then_some(peer);
        loop {
            match self.places.take(client) {
                Wish::Granted(place) => return Some(place),
                Wish::TooMany => return None,
                Wish::Full => {
                    // One has ended, or it is time to look whether one has become idle.
                    let _ = tokio::time::timeout(PLACE_PAUSE, self.places.left()).await;
                }
            }
        }
    }

    /// Serves one connection in a task of its own.
    fn serve(&self, stream: TcpStream, peer: IpAddr, place: Place) {
        // Small answers go out at once; where that cannot be set they are merely later.
        let _ = stream.set_nodelay(true);
        let (dispatcher, place) = (Arc::clone(&self.dispatcher), Arc::new(place));
        let (seat, handover) = (Arc::clone(&place.seat), Handover::default());
        let pace = Pace::new(self.limits.write_bytes_min, self.limits.write_span_ms);
        let socket = Socket::new(stream, Arc::clone(&seat), pace, handover.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let dispatcher = Arc::clone(&dispatcher);
            let (place, handover) = (Arc::clone(&place), handover.clone());
            async move {
                let (seat, version) = (Arc::clone(&place.seat), request.version());
                let request = request.map(|body| Arriving::new(body, Arc::clone(&seat)));
                let answering = seat.begin().await;
                let response = dispatcher.dispatch(peer, request).await?;
                Ok::<_, Dropped>(
                    response
                        .map(|body| UnderWay::new(body, answering, (&place, &handover), version)),
                )
            }
        });
        let connection = self.builder.serve_connection(socket, service);
        let connection = self.graceful.watch(connection);
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                log::debug!("a connection ended: {error}");
            }
        });
        seat.served_by(task.abort_handle());
    }

    /// Lets answers under way come to their end; whoever only waits for its client is not waited for.
    async fn drain(self) {
        let client_ms = self.limits.drain_client_ms;
        let pause_ms = client_ms.div_euclid(DRAIN_LOOKS).clamp(1, DRAIN_PAUSE_MS);
        let end_waiting = async {
            loop {
                self.places.end_waiting(Duration::from_millis(client_ms));
                tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            }
        };
        let most_ms = self.limits.drain_timeout_ms;
        tokio::select! {
            // Live streams have left hyper, and have their places as long as they write their end.
            () = async { tokio::join!(self.graceful.shutdown(), self.places.emptied()); } => {}
            () = end_waiting => {}
            () = tokio::time::sleep(Duration::from_millis(most_ms)) => {
                log::warn!("answers did not end within {most_ms} ms");
            }
        }
    }
}
