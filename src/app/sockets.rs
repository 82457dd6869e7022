//! The sockets that a server listens on, and the routes of each socket.
//!
//! Invariant: if `/metrics` has a separate socket, no other socket serves that path.

use crate::http::{ConnectionLimits, Listener, ListenerRoutes, Tls};
use crate::service::Error;
use rustix::net::sockopt;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Size of the kernel's send buffer of a connection, in bytes.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// Maximum number of new connections that wait in the kernel until the server accepts them. The standard library's 128
/// are too few for a burst: the kernel drops the first packet of a further connection, and the client waits a second
/// before it sends the packet again.
const BACKLOG: i32 = 1024;

const METRICS_CONNECTIONS_MAX: usize = 16;

pub(super) struct MainSocket {
    pub(super) socket: TcpListener,
    pub(super) address: SocketAddr,
    /// TLS of the socket. `None`: plain HTTP.
    pub(super) tls: Option<Arc<Tls>>,
    pub(super) has_metrics: bool,
}

/// Binds a listening socket. Returns the socket, and the address with the actual port.
pub(super) fn bind(
    address: SocketAddr,
    write_span_ms: u64,
) -> Result<(TcpListener, SocketAddr), Error> {
    let failed = |error: std::io::Error| Error::Failed(format!("{address}: {error}"));
    let socket = bind_any(address).map_err(failed)?;
    rustix::net::listen(&socket, BACKLOG).map_err(|error| failed(error.into()))?;
    let given = socket.local_addr().map_err(failed)?;
    limit_send_memory(&socket, write_span_ms);
    Ok((socket, given))
}

/// Binds a socket. On a system without IPv6, `[::]` means every IPv4 address.
pub fn bind_any(address: SocketAddr) -> std::io::Result<TcpListener> {
    match TcpListener::bind(address) {
        Err(error)
            if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
                && matches!(error.kind(), ErrorKind::AddrNotAvailable | ErrorKind::Unsupported) =>
        {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port()))
        }
        bound => bound,
    }
}

/// Returns the routes of each socket. With a separate `/metrics` socket, no other socket serves that path.
pub(super) fn routes_by_socket(
    runtime: &Runtime,
    MainSocket { socket, address, tls, has_metrics }: MainSocket,
    metrics: Option<(TcpListener, SocketAddr)>,
    limits: ConnectionLimits,
) -> Result<Vec<(Listener, ConnectionLimits)>, Error> {
    let _inside = runtime.enter();
    let listener = |socket, address, scope, tls| {
        Listener::new(socket, scope, tls)
            .map_err(|error| Error::Failed(format!("{address}: {error}")))
    };
    let Some((metrics, metrics_address)) = metrics else {
        let scope = match has_metrics {
            true => ListenerRoutes::All,
            false => ListenerRoutes::AllButSeparate,
        };
        return Ok(vec![(listener(socket, address, scope, tls)?, limits)]);
    };
    log::info!("metrics served: url=http://{metrics_address}/metrics");
    let few = ConnectionLimits { connections_max: METRICS_CONNECTIONS_MAX, ..limits };
    let all = listener(socket, address, ListenerRoutes::AllButSeparate, tls)?;
    let metrics = listener(metrics, metrics_address, ListenerRoutes::OnlySeparate, None)?;
    Ok(vec![(all, limits), (metrics, few)])
}

/// Limits the kernel memory that slow clients occupy. The kernel drops data that is unsent after `within_ms`, even if
/// the connection is closed. Connections inherit this limit and the size of the send buffer from the listening
/// socket.
fn limit_send_memory(socket: &TcpListener, within_ms: u64) {
    // If the kernel refuses the buffer size or the time limit, its default applies.
    let _ = sockopt::set_socket_send_buffer_size(socket, SEND_BUFFER_BYTES);
    let within_ms = u32::try_from(within_ms).unwrap_or(u32::MAX);
    #[cfg(target_os = "linux")]
    let _ = sockopt::set_tcp_user_timeout(socket, within_ms);
    #[cfg(not(target_os = "linux"))]
    let _ = within_ms;
}

/// Returns the URL of a listening address. Replaces the unspecified address (`0.0.0.0` or `::`) by loopback.
pub(super) fn listening_url(address: SocketAddr) -> String {
    match address.ip() {
        ip if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
        _ => format!("http://{address}"),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests {
    use super::bind;
    use std::net::TcpStream;
    use std::time::Duration;

    /// Time after which the test gives up a connection. A connection that fits takes no time.
    const PATIENCE: Duration = Duration::from_secs(5);

    #[test]
    fn burst_of_connections_waits_until_it_is_accepted() {
        let (_socket, address) = bind(([127, 0, 0, 1], 0).into(), 1_000).unwrap();
        let connect = |_| TcpStream::connect_timeout(&address, PATIENCE);
        let waiting: Result<Vec<TcpStream>, _> = (0..500).map(connect).collect();
        assert_eq!(waiting.unwrap().len(), 500);
    }
}
