//! `coffer doctor --live`: asks a running server over HTTP whether it accepts requests.
//!
//! Invariant: no file is opened, and the check ends within seconds.

use super::checks::Check;
use crate::service;
use crate::store::doctor::FileProblem;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Timeout of each step of the request.
const STEP_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum bytes read from the response: enough for its status line.
const ANSWER_BYTES: usize = 256;

/// Checks the server that listens on this address.
///
/// # Errors
///
/// The port is 0, which no running server has.
pub(super) fn check_server(listen: SocketAddr) -> Result<Check, service::Error> {
    if listen.port() == 0 {
        let problem = "--listen must name the port of the server that is asked, not 0";
        return Err(service::Error::Failed(problem.to_owned()));
    }
    let address = local_address(listen);
    let complaint = match check_readiness(address) {
        Ok((true, _)) => None,
        Ok((false, answer)) => Some(FileProblem {
            about: format!("{address} is not ready: {answer}"),
            mend: format!("see http://{address}/readyz?verbose and the log"),
        }),
        Err(error) => Some(FileProblem {
            about: format!("nothing answers at {address}: {error}"),
            mend: "start the server, or pass its address with --listen".to_owned(),
        }),
    };
    let about = format!("server at {address}");
    Ok((about, complaint.into_iter().collect()))
}

/// Returns an address of this machine at which a server with this listening address can be reached. Replaces the
/// unspecified address (`0.0.0.0` or `::`) by loopback.
fn local_address(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// Returns `true` if the server is ready, with the status line of its response.
fn check_readiness(address: SocketAddr) -> Result<(bool, String), Error> {
    let mut stream = TcpStream::connect_timeout(&address, STEP_TIMEOUT)?;
    stream.set_read_timeout(Some(STEP_TIMEOUT))?;
    stream.set_write_timeout(Some(STEP_TIMEOUT))?;
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    // The first bytes contain the status. The rest of the response could arrive very slowly.
    let mut answer = [0; ANSWER_BYTES];
    let count = stream.read(&mut answer)?;
    let answer = String::from_utf8_lossy(answer.get(..count).unwrap_or_default());
    let status = answer
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.lines().next())
        .ok_or_else(|| Error::new(ErrorKind::InvalidData, "it is not an HTTP response"))?;
    Ok((status.starts_with("200 "), status.to_owned()))
}
