//! The one way out: every call to a merchant's url is made here.
//!
//! What lives here: the agent with its open connections, and every limit on a call. What does not: what is sent and
//! when, and what an answer means (the worker); which addresses are allowed (the guard). What always holds: a
//! connection is made only to an address that the guard allowed. A name is looked up once a call, and the
//! connection goes to the address that was found, so a name that changes its address in between (DNS rebinding)
//! gains nothing.

mod guard;

pub use guard::{Cidr, Guard};
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::http::header::CONTENT_LENGTH;
use ureq::http::uri::Scheme;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body, Error, SendBody};

const USER_AGENT: &str = concat!("coffer/", env!("CARGO_PKG_VERSION"));

const IDLE_CONNECTIONS_MAX: usize = 256;
/// As many as one receiver may have under way: what a busy one is sent needs no new connection.
const IDLE_CONNECTIONS_PER_HOST_MAX: usize = 32;
/// Shorter than the 5 s after which Node's server closes, so that a request seldom meets a connection being closed.
const IDLE_MS_MAX: u64 = 4_000;

const ANSWER_BYTES_MAX: u64 = 4 * 1024;
const ANSWER_HEADER_BYTES_MAX: usize = 16 * 1024;
const REASON_CHARS_MAX: usize = 200;

/// Buffers of a connection, kept small because hundreds are kept. An answer's header must fit the first.
const INPUT_BUFFER_BYTES: usize = 32 * 1024;
const OUTPUT_BUFFER_BYTES: usize = 8 * 1024;

/// Sends requests, within limits, to whom the guard permits. Clones share the connections.
#[derive(Debug, Clone)]
pub struct Outbound {
    agent: Agent,
    guard: Arc<Guard>,
}

/// What came back, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The first 4 KiB of the body; what is not UTF-8 is replaced.
    pub start: String,
}

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// In short, without the address that a name has.
    pub reason: String,
    /// Was the header sent as a whole, so that the receiver may know of it?
    pub was_sent: bool,
}

/// A body that notes when it is asked for, which is once the header has been sent.
struct Noting<'a> {
    rest: &'a [u8],
    is_asked_for: bool,
}

impl Read for Noting<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.is_asked_for = true;
        self.rest.read(into)
    }
}

impl Outbound {
    /// A call, from the lookup to the last byte read, takes no longer than `timeout_ms`.
    pub fn new(guard: Guard, timeout_ms: u64) -> Self {
        Self::with_names(guard, timeout_ms, DefaultResolver::default())
    }

    fn with_names(guard: Guard, timeout_ms: u64, names: impl Resolver) -> Self {
        let guard = Arc::new(guard);
        let resolver = GuardedResolver {
            names,
            guard: Arc::clone(&guard),
        };
        let agent = Agent::with_parts(config(timeout_ms), DefaultConnector::default(), resolver);
        Self { agent, guard }
    }

    /// The guard, to check a url when it is given.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Posts `body` and waits, on this thread, for the answer. Every status is an answer, a redirect and a 500 too.
    ///
    /// # Errors
    /// [`Unanswered`] where there was none.
    pub fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Unanswered> {
        let mut request = self.agent.post(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut noting = Noting {
            rest: body,
            is_asked_for: false,
        };
        // A reader has no length of its own.
        let request = request.header(CONTENT_LENGTH, body.len());
        let sent = request.send(SendBody::from_reader(&mut noting));
        let response = sent.map_err(|error| Unanswered {
            reason: reason(&error),
            was_sent: noting.is_asked_for,
        })?;
        Ok(Answer {
            status: response.status().as_u16(),
            start: start_of(response.into_body()),
        })
    }
}

fn config(timeout_ms: u64) -> Config {
    Agent::config_builder()
        .timeout_global(Some(Duration::from_millis(timeout_ms)))
        .proxy(None) // the default would be the environment's
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(USER_AGENT)
        .max_idle_connections(IDLE_CONNECTIONS_MAX)
        .max_idle_connections_per_host(IDLE_CONNECTIONS_PER_HOST_MAX)
        .max_idle_age(Duration::from_millis(IDLE_MS_MAX))
        .max_response_header_size(ANSWER_HEADER_BYTES_MAX)
        .input_buffer_size(INPUT_BUFFER_BYTES)
        .output_buffer_size(OUTPUT_BUFFER_BYTES)
        .build()
}

/// Reads to the end where the body is short, so that the connection is kept. The status is known by now, so a
/// body that breaks off or hangs until the time limit is no failure: what came of it counts.
fn start_of(body: Body) -> String {
    let mut start = Vec::new();
    let read = body
        .into_reader()
        .take(ANSWER_BYTES_MAX)
        .read_to_end(&mut start);
    if let Err(error) = read {
        log::debug!(
            "an answer ended early, after {} bytes: {error}",
            start.len()
        );
    }
    String::from_utf8_lossy(&start).into_owned()
}

/// Looks names up with `names` and drops every address that the guard does not permit.
#[derive(Debug)]
struct GuardedResolver<R> {
    names: R,
    guard: Arc<Guard>,
}

impl<R: Resolver> Resolver for GuardedResolver<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = match literal(uri) {
            Some(address) => {
                let mut found = self.empty();
                found.push(address);
                found
            }
            None => {
                let found = self.names.resolve(uri, config, timeout);
                found.map_err(lookup_failed)?
            }
        };
        let https = uri.scheme() == Some(&Scheme::HTTPS);
        let mut permitted = self.empty();
        for address in found
            .iter()
            .filter(|address| self.guard.permits(https, address.ip()))
        {
            permitted.push(*address);
        }
        if permitted.is_empty() && !found.is_empty() {
            // Merchants read the reason, and which address a name has in here is for the operator alone.
            let refused: Vec<String> = found.iter().map(|one| one.ip().to_string()).collect();
            let (host, refused) = (uri.host().unwrap_or_default(), refused.join(", "));
            log::warn!("no webhook goes to {host}: {refused} is not allowed");
            return Err(Error::Other("address not allowed".into()));
        }
        Ok(permitted)
    }
}

/// The address that a url names by its numbers: it needs no lookup, for which ureq starts a thread each time.
fn literal(uri: &Uri) -> Option<SocketAddr> {
    let host = uri.host()?;
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let ip: IpAddr = bare.unwrap_or(host).parse().ok()?;
    let port = match uri.port_u16() {
        Some(port) => port,
        None if uri.scheme() == Some(&Scheme::HTTPS) => 443,
        None => 80,
    };
    Some(SocketAddr::new(ip, port))
}

fn lookup_failed(error: Error) -> Error {
    match error {
        Error::Io(error) => {
            let text = error.to_string();
            let text = text
                .strip_prefix("failed to lookup address information: ")
                .unwrap_or(&text);
            Error::Other(format!("dns: {text}").into())
        }
        Error::HostNotFound => Error::Other("dns: the name has no address".into()),
        other => other,
    }
}

/// The short reason for the log of attempts.
fn reason(error: &Error) -> String {
    let text = match error {
        Error::Timeout(_) => "timed out".to_owned(),
        Error::Other(reason) => reason.to_string(),
        Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            "connection closed before an answer".to_owned()
        }
        Error::Io(error) if error.raw_os_error().is_some() => error.kind().to_string(),
        Error::Io(error) => error.to_string(), // told by TLS, such as a bad certificate
        other => other.to_string(),
    };
    text.chars().take(REASON_CHARS_MAX).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests;
