//! The sockets that a server listens on, and what is served on which.
//!
//! What always holds: with a socket for `/metrics` that path is served there and nowhere else.

use crate::http::{Limits, Listener, Scope};
use crate::service::Error;
use rustix::net::sockopt;
use std::net::{SocketAddr, TcpListener};
use tokio::runtime::Runtime;

/// What the system keeps of an answer for a client that is slow to take it.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// Connections at once to the listener of `/metrics`.
const METRICS_CONNECTIONS_MAX: usize = 16;

/// A socket that listens, and the address that it was given.
pub(super) fn bind(
    address: SocketAddr,
    write_span_ms: u64,
) -> Result<(TcpListener, SocketAddr), Error> {
    let failed = |error| Error::Failed(format!("{address}: {error}"));
    let socket = TcpListener::bind(address).map_err(failed)?;
    let given = socket.local_addr().map_err(failed)?;
    keep_little_for_others(&socket, write_span_ms);
    Ok((socket, given))
}

/// What is served on which socket; with a socket for `/metrics` there and nowhere else.
pub(super) fn listeners(
    runtime: &Runtime,
    (socket, address): (TcpListener, SocketAddr),
    metrics: Option<(TcpListener, SocketAddr)>,
    limits: Limits,
) -> Result<Vec<(Listener, Limits)>, Error> {
    let _inside = runtime.enter();
    let listener = |socket, address, scope| {
        Listener::new(socket, scope).map_err(|error| Error::Failed(format!("{address}: {error}")))
    };
    let Some((metrics, metrics_address)) = metrics else {
        return Ok(vec![(listener(socket, address, Scope::All)?, limits)]);
    };
    log::info!("metrics are served at http://{metrics_address}/metrics");
    let few = Limits {
        connections_max: METRICS_CONNECTIONS_MAX,
        ..limits
    };
    let all = listener(socket, address, Scope::AllButOwn)?;
    let metrics = listener(metrics, metrics_address, Scope::OnlyOwn)?;
    Ok(vec![(all, limits), (metrics, few)])
}

/// Lets the system keep little of what a client does not take, and forget it after this time, also of connections that
/// have ended: its memory is everybody's. Connections have this from the socket that they come by.
fn keep_little_for_others(socket: &TcpListener, within_ms: u64) {
    // Where these cannot be set, the system has measures of its own.
    let _ = sockopt::set_socket_send_buffer_size(socket, SEND_BUFFER_BYTES);
    let within_ms = u32::try_from(within_ms).unwrap_or(u32::MAX);
    #[cfg(target_os = "linux")]
    let _ = sockopt::set_tcp_user_timeout(socket, within_ms);
    #[cfg(not(target_os = "linux"))]
    let _ = within_ms;
}

/// The url of a listening address; one that means "every address" is called by loopback's.
pub(super) fn url_of(address: SocketAddr) -> String {
    match address.ip() {
        ip if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
        _ => format!("http://{address}"),
    }
}
