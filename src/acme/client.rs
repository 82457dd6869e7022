//! HTTP client for the certificate authority.
//!
//! Invariant: a response is bounded in size and time, and none of its values makes `instant_acme` panic.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use serde_json::Value;
use std::future::Future;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use ureq::Agent;
use ureq::http::header::{HeaderValue, RETRY_AFTER, USER_AGENT};
use ureq::http::{HeaderMap, Request, Response, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

const TIMEOUT: Duration = Duration::from_secs(20);
const RESPONSE_BYTES_MAX: u64 = 1024 * 1024;
/// Longest wait that a response may ask for, in seconds.
const RETRY_AFTER_S_MAX: u64 = 86_400;
/// Longest text of the authority in a message, in characters.
const TEXT_CHARS_MAX: usize = 400;

const OWN_NAME: &str = concat!("coffer/", env!("CARGO_PKG_VERSION"));

#[derive(Clone)]
pub(super) struct AuthorityClient {
    agent: Agent,
    directory: Arc<str>,
}

impl AuthorityClient {
    /// Creates the client of an authority by the URL of its directory. `roots` replace the public authorities that the
    /// authority's own server is checked against.
    pub(super) fn new(directory: &str, roots: Option<&[u8]>) -> Result<AuthorityClient, String> {
        let roots = match roots {
            None => RootCerts::WebPki,
            Some(pem) => parse_roots(pem)?,
        };
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .proxy(None)
            .max_redirects(0)
            .https_only(true)
            .http_status_as_error(false)
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .build();
        Ok(AuthorityClient { agent: config.into(), directory: directory.into() })
    }

    /// Sends a request, and blocks the thread until the whole response has arrived.
    fn send(&self, mut request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(OWN_NAME));
        let is_directory = *request.uri() == *self.directory;
        let describe = |error: ureq::Error| format!("{}: {error}", self.directory);
        let (mut parts, body) = self.agent.run(request).map_err(describe)?.into_parts();
        let limited = body.into_with_config().limit(RESPONSE_BYTES_MAX);
        let bytes = limited.read_to_vec().map_err(describe)?;
        limit_retry_after(&mut parts.headers);
        if is_directory {
            check_directory(&bytes).map_err(|problem| format!("{}: {problem}", self.directory))?;
        }
        Ok(Response::from_parts(parts, bytes))
    }

    /// Reads the URL of the authority's terms. `None` if the authority names none.
    fn terms(&self) -> Result<Option<String>, String> {
        let request = Request::get(self.directory.as_ref()).body(Vec::new());
        let response = self.send(request.map_err(|error| error.to_string())?)?;
        let found: Value = serde_json::from_slice(response.body())
            .map_err(|_| format!("{}: the response is not JSON", self.directory))?;
        Ok(found.pointer("/meta/termsOfService").and_then(Value::as_str).map(plain_text))
    }
}

impl HttpClient for AuthorityClient {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let client = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let Ok(body) = body.collect().await;
            let request = Request::from_parts(parts, body.to_bytes().to_vec());
            let response = run_on_thread(move || client.send(request)).await;
            let response = response.map_err(|problem| Error::Other(problem.into()))?;
            Ok(BytesResponse::from(response.map(|bytes| Full::new(Cursor::new(bytes)))))
        })
    }
}

/// Reads the URL of the terms of the authority, and blocks the thread meanwhile. `None` if the authority names none.
pub fn read_terms(directory: &str, roots: Option<&[u8]>) -> Result<Option<String>, String> {
    AuthorityClient::new(directory, roots)?.terms()
}

/// Checks that these bytes contain certificates in PEM.
///
/// # Errors
/// A message for the operator.
pub fn check_roots(pem: &[u8]) -> Result<(), String> {
    parse_roots(pem).map(drop)
}

/// Runs blocking work on a thread of its own. The runtime would wait at its end for work on its own threads.
pub(super) async fn run_on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let (done, result) = oneshot::channel();
    let thread = std::thread::Builder::new().name("acme".to_owned());
    let started = thread.spawn(move || {
        // The send fails only while the server is stopping.
        let _ = done.send(work());
    });
    started.map_err(|error| error.to_string())?;
    result.await.unwrap_or_else(|_| Err("the thread ended early".to_owned()))
}

/// Returns a text of another server without control characters, cut to a length for messages.
pub(super) fn plain_text(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().take(TEXT_CHARS_MAX).map(plain).collect()
}

fn parse_roots(pem: &[u8]) -> Result<RootCerts, String> {
    let mut roots = Vec::new();
    for item in parse_pem(pem) {
        match item.map_err(|error| format!("is not PEM: {error}"))? {
            PemItem::Certificate(certificate) => roots.push(certificate),
            _ => continue,
        }
    }
    match roots.is_empty() {
        true => Err("has no certificate in PEM".to_owned()),
        false => Ok(RootCerts::new_with_certs(&roots)),
    }
}

/// Limits the wait that a response asks for: `instant_acme` adds it to the time without a check.
fn limit_retry_after(headers: &mut HeaderMap) {
    let Some(asked) = headers.remove(RETRY_AFTER) else {
        return;
    };
    let text = asked.to_str().unwrap_or_default().trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let kept = match is_number {
        true => HeaderValue::from(text.parse().unwrap_or(u64::MAX).min(RETRY_AFTER_S_MAX)),
        false => asked,
    };
    headers.insert(RETRY_AFTER, kept);
}

/// Checks that the directory names a valid URL for nonces: `instant_acme` takes it without a check.
fn check_directory(bytes: &[u8]) -> Result<(), String> {
    let found: Value = serde_json::from_slice(bytes)
        .map_err(|_| "the response is not a directory of ACME".to_owned())?;
    let nonces = found.get("newNonce").and_then(Value::as_str);
    match nonces.is_some_and(|url| url.parse::<Uri>().is_ok()) {
        true => Ok(()),
        false => Err("the response is not a directory of ACME".to_owned()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::{check_directory, limit_retry_after, parse_roots, plain_text};
    use ureq::http::HeaderMap;
    use ureq::http::header::RETRY_AFTER;

    #[test]
    fn wait_that_a_response_asks_for_is_limited() {
        for (asked, kept) in [
            ("3", "3"),
            ("86401", "86400"),
            ("18446744073709551615", "86400"),
            ("99999999999999999999999", "86400"),
            ("Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:59 GMT"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, asked.parse().unwrap());
            limit_retry_after(&mut headers);
            assert_eq!(headers[RETRY_AFTER], kept);
        }
    }

    #[test]
    fn directory_without_a_valid_nonce_url_is_refused() {
        check_directory(br#"{"newNonce": "https://ca.example/nonce"}"#).unwrap();
        for wrong in ["", "[]", "{}", r#"{"newNonce": "a b"}"#, r#"{"newNonce": ""}"#] {
            check_directory(wrong.as_bytes()).unwrap_err();
        }
    }

    #[test]
    fn text_of_an_authority_has_no_control_characters() {
        assert_eq!(plain_text("a\r\n\u{1b}[31mb"), "a   [31mb");
        assert_eq!(plain_text(&"x".repeat(1000)).len(), 400);
    }

    #[test]
    fn roots_without_a_certificate_are_refused() {
        assert_eq!(parse_roots(b"").unwrap_err(), "has no certificate in PEM");
        parse_roots(b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n").unwrap_err();
    }
}
