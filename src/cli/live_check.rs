//! `coffer doctor --live`: asks a running server over HTTP whether it accepts requests.
//!
//! Invariant: no file is opened, and the check ends within seconds.

use super::checks::Check;
use crate::acme::connect_unverified;
use crate::service;
use crate::store::doctor::FileProblem;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

const STEP_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum bytes read from the response: enough for its status line.
const ANSWER_BYTES: usize = 256;

/// Checks the server that listens on this address, with TLS for the domain if there is one.
///
/// # Errors
///
/// The port is 0, which no running server has.
pub(super) fn check_server(
    listen: SocketAddr,
    domain: Option<&str>,
) -> Result<Check, service::Error> {
    if listen.port() == 0 {
        let problem = "--listen must name the port of the server that is asked, not 0";
        return Err(service::Error::Failed(problem.to_owned()));
    }
    let address = local_address(listen);
    let scheme = if domain.is_some() { "https" } else { "http" };
    let complaint = match check_readiness(address, domain) {
        Ok((true, _)) => None,
        Ok((false, answer)) => Some(FileProblem {
            about: format!("{address} is not ready: {answer}"),
            mend: format!(
                "see {scheme}://{}/readyz?verbose and the log",
                domain.map_or(address.to_string(), str::to_owned)
            ),
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
fn check_readiness(address: SocketAddr, domain: Option<&str>) -> Result<(bool, String), Error> {
    let stream = TcpStream::connect_timeout(&address, STEP_TIMEOUT)?;
    stream.set_read_timeout(Some(STEP_TIMEOUT))?;
    stream.set_write_timeout(Some(STEP_TIMEOUT))?;
    let Some(domain) = domain else {
        return request_readiness(stream, &address.to_string());
    };
    // The request has no secret, and the address is of this machine, so any certificate will do.
    request_readiness(connect_unverified(stream, domain, &[b"http/1.1"])?, domain)
}

fn request_readiness(mut stream: impl Read + Write, host: &str) -> Result<(bool, String), Error> {
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
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
