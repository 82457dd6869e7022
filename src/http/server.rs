//! Connections: accepting them, limiting them, letting them end.
//!
//! What always holds: a connection that sends nothing is closed by a timer, and a stopping server finishes what it
//! has begun.

use super::{Front, dispatch};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// What one connection may ask of the server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once; the next one waits until one ends.
    pub connections_max: usize,
    /// How long a header may take to arrive, also the wait between two requests.
    pub header_timeout_ms: u64,
    /// How long a body may take to arrive.
    pub body_timeout_ms: u64,
    /// How long a stopping server waits for answers under way.
    pub drain_timeout_ms: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections_max: 4096,
            header_timeout_ms: 30_000,
            body_timeout_ms: 10_000,
            drain_timeout_ms: 10_000,
        }
    }
}

/// What hyper buffers of a request; our own limit on headers is below it.
const BUFFER_BYTES_MAX: usize = 32 * 1024;
/// How long to wait after accepting failed, for example because there are no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A socket that is not served yet.
pub struct Listener {
    inner: TcpListener,
}

impl Listener {
    /// Takes a socket that listens already. To be called inside the runtime that is to serve it.
    ///
    /// # Errors
    /// The system's.
    pub fn new(socket: std::net::TcpListener) -> io::Result<Listener> {
        socket.set_nonblocking(true)?;
        TcpListener::from_std(socket).map(|inner| Listener { inner })
    }

    /// Serves until `stop` is true, then lets what has begun come to its end.
    pub async fn serve(self, front: Arc<Front>, limits: Limits, mut stop: watch::Receiver<bool>) {
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(limits.connections_max));
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_millis(limits.header_timeout_ms))
            .max_buf_size(BUFFER_BYTES_MAX);
        loop {
            let accepted = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                accepted = async {
                    let place = Arc::clone(&places).acquire_owned().await;
                    (self.inner.accept().await, place)
                } => accepted,
            };
            let (Ok((stream, peer)), Ok(place)) = accepted else {
                log::warn!("a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            // Small answers go out at once; where that cannot be set they are merely later.
            let _ = stream.set_nodelay(true);
            let front = Arc::clone(&front);
            let service = service_fn(move |request| {
                let front = Arc::clone(&front);
                dispatch::dispatch(front, peer.ip(), request)
            });
            let connection =
                graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    log::debug!("a connection ended: {error}");
                }
                drop(place);
            });
        }
        front.close();
        drop(self.inner);
        let drained = tokio::time::timeout(
            Duration::from_millis(limits.drain_timeout_ms),
            graceful.shutdown(),
        )
        .await;
        if drained.is_err() {
            log::warn!(
                "connections did not end within {} ms",
                limits.drain_timeout_ms
            );
        }
    }
}
