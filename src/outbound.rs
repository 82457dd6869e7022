//! HTTP client for the urls of merchants, with limits for each call, and `smtp`, the client for e-mail.
//!
//! Invariant: the HTTP client connects only to addresses that the guard permits. It looks a name up once for each call, so
//! DNS rebinding has no effect.

mod guard;
pub mod smtp;

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
/// Maximum number of idle connections to one host. It equals the maximum number of concurrent requests to one
/// receiver, so that a busy receiver needs no new connections.
const IDLE_CONNECTIONS_PER_HOST_MAX: usize = 128;
/// Maximum age of an idle connection, in milliseconds. Node.js closes idle connections after 5 s, so requests on a
/// closed connection are rare.
const IDLE_MS_MAX: u64 = 4_000;

const ANSWER_BYTES_MAX: u64 = 4 * 1024;
const ANSWER_HEADER_BYTES_MAX: usize = 16 * 1024;
const REASON_CHARS_MAX: usize = 200;

/// Sizes of the buffers of a connection, in bytes. They are small because hundreds of connections stay open, but a
/// response header must fit.
const INPUT_BUFFER_BYTES: usize = 32 * 1024;
const OUTPUT_BUFFER_BYTES: usize = 8 * 1024;

/// HTTP client with limits and an address guard. Clones share the connections.
#[derive(Debug, Clone)]
pub struct OutboundClient {
    agent: Agent,
    guard: Arc<Guard>,
}

/// An HTTP response, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboundResponse {
    /// HTTP status code.
    pub status: u16,
    /// First 4 KiB of the body, with invalid UTF-8 replaced.
    pub start: String,
    /// `true` if the time limit ended before the end of the body.
    pub timed_out: bool,
}

/// The reason why a request got no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoResponse {
    /// Short description. It never contains an address that a name was resolved to.
    pub reason: String,
    /// `true` if the whole header was sent, so that the receiver may have seen the request.
    pub was_sent: bool,
    /// `true` if the time limit ended.
    pub timed_out: bool,
}

/// A request body that records whether it was read. It is read only after the header was sent.
struct RecordingBody<'a> {
    rest: &'a [u8],
    is_asked_for: bool,
}

impl Read for RecordingBody<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.is_asked_for = true;
        self.rest.read(into)
    }
}

impl OutboundClient {
    /// Creates a client. A call takes at most `timeout_ms`, from name lookup to the last byte.
    pub fn new(guard: Guard, timeout_ms: u64) -> Self {
        Self::with_resolver(guard, timeout_ms, DefaultResolver::default())
    }

    fn with_resolver(guard: Guard, timeout_ms: u64, names: impl Resolver) -> Self {
        let guard = Arc::new(guard);
        let resolver = GuardedResolver { names, guard: Arc::clone(&guard) };
        let agent =
            Agent::with_parts(client_config(timeout_ms), DefaultConnector::default(), resolver);
        Self { agent, guard }
    }

    /// Returns the guard, so that callers can check a url when a merchant sets it.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Sends a POST request, and blocks the thread until the response arrives. Redirects are not followed. Every
    /// status is a response.
    pub fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<OutboundResponse, NoResponse> {
        self.post_within(url, headers, body, None)
    }

    /// Sends a POST request like [`OutboundClient::post`]. `limit` is a shorter time limit for this call.
    pub fn post_within(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        limit: Option<Duration>,
    ) -> Result<OutboundResponse, NoResponse> {
        let mut request = self.agent.post(url);
        if let Some(limit) = limit {
            let most = self.agent.config().timeouts().global.unwrap_or(limit);
            request = request.config().timeout_global(Some(limit.min(most))).build();
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut noting = RecordingBody { rest: body, is_asked_for: false };
        // A body from a reader has no length, so this header states the length.
        let request = request.header(CONTENT_LENGTH, body.len());
        let sent = request.send(SendBody::from_reader(&mut noting));
        let response = sent.map_err(|error| NoResponse {
            reason: describe_error(&error),
            was_sent: noting.is_asked_for,
            timed_out: matches!(error, Error::Timeout(_)),
        })?;
        let status = response.status().as_u16();
        let (start, timed_out) = read_body_start(response.into_body());
        Ok(OutboundResponse { status, start, timed_out })
    }
}

fn client_config(timeout_ms: u64) -> Config {
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

/// Reads the first 4 KiB of a body. A short body is read to its end, so that its connection can be reused. An
/// incomplete body is accepted, because the status is known. Also returns `true` if the time limit ended.
fn read_body_start(body: Body) -> (String, bool) {
    let (mut start, mut timed_out) = (Vec::new(), false);
    let read = body.into_reader().take(ANSWER_BYTES_MAX).read_to_end(&mut start);
    if let Err(error) = read {
        log::debug!("response ended early: bytes={} error={error}", start.len());
        timed_out = matches!(Error::from(error), Error::Timeout(_));
    }
    (String::from_utf8_lossy(&start).into_owned(), timed_out)
}

/// A resolver that looks up names, and removes addresses that the guard refuses.
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
        let found = match literal_address(uri) {
            Some(address) => {
                let mut found = self.empty();
                found.push(address);
                found
            }
            None => {
                let found = self.names.resolve(uri, config, timeout);
                found.map_err(lookup_error)?
            }
        };
        let https = uri.scheme() == Some(&Scheme::HTTPS);
        let mut permitted = self.empty();
        for address in found.iter().filter(|address| self.guard.permits(https, address.ip())) {
            permitted.push(*address);
        }
        if permitted.is_empty() && !found.is_empty() {
            // Merchants can read the error, so it contains no address. Only the operator may see internal addresses,
            // in the log.
            let refused: Vec<String> = found.iter().map(|one| one.ip().to_string()).collect();
            let (host, refused) = (uri.host().unwrap_or_default(), refused.join(", "));
            log::warn!("webhook address refused: host={host} address={refused}");
            return Err(Error::Other("address not allowed".into()));
        }
        Ok(permitted)
    }
}

/// Returns the address of a url with a numeric host. This avoids a lookup, for which ureq starts a thread.
fn literal_address(uri: &Uri) -> Option<SocketAddr> {
    let host = uri.host()?;
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let ip: IpAddr = bare.unwrap_or(host).parse().ok()?;
    let port = match uri.port_u16() {
        Some(port) => port,
        None if uri.scheme() == Some(&Scheme::HTTPS) => 443,
        None => 80,
    };
    Some(SocketAddr::new(ip, port))
}

fn lookup_error(error: Error) -> Error {
    match error {
        Error::Io(error) => {
            let text = error.to_string();
            let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
            Error::Other(format!("dns: {text}").into())
        }
        Error::HostNotFound => Error::Other("dns: the name has no address".into()),
        other => other,
    }
}

/// Returns a short description of an error for the delivery log.
fn describe_error(error: &Error) -> String {
    let text = match error {
        Error::Timeout(_) => "timed out".to_owned(),
        // Such an error repeats the url, which may contain secrets.
        Error::BadUri(_) | Error::RequireHttpsOnly(_) => "the url cannot be used".to_owned(),
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
