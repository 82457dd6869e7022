//! Sends one HTTP request to a node and reads the response.

use super::super::NodeError;
use super::Rpc;
use super::failure::{request_error, response_error, wrong_node_error};
use super::limits::BUFFER_BYTES;
use super::watch::RequestWatch;
use serde::de::DeserializeSeed;
use std::io::{BufReader, Read};
use std::time::Duration;

/// Largest number of bytes read from a response with an error status.
const REFUSAL_BYTES_MAX: u64 = 64 * 1024;
/// Words in a 403 response that mean a rate limit and not a wrong key.
const LIMIT_WORDS: [&str; 4] =
    ["frequency limit", "rate limit", "too many requests", "is suspended for"];

pub(super) struct HttpResponse<V> {
    pub is_ok: bool,
    pub status: u16,
    pub value: V,
}

impl Rpc {
    /// Posts a body to this path below the url, and reads the response.
    pub(super) fn send_request<'de, S: DeserializeSeed<'de>>(
        &self,
        path: &str,
        body: &[u8],
        seed: S,
    ) -> Result<HttpResponse<S::Value>, NodeError> {
        self.send_request_within(self.limits.timeout_ms, path, body, seed)
    }

    /// Like [`Rpc::send_request`], with this time limit in milliseconds.
    pub(super) fn send_request_within<'de, S: DeserializeSeed<'de>>(
        &self,
        timeout_ms: u64,
        path: &str,
        body: &[u8],
        seed: S,
    ) -> Result<HttpResponse<S::Value>, NodeError> {
        let endpoint = self.endpoint().ok_or_else(|| wrong_node_error("it has no url"))?;
        let mut request = self
            .agent
            .post(endpoint.url_with_path(path).as_ref())
            .config()
            .timeout_global(Some(Duration::from_millis(timeout_ms)))
            .build()
            .header("content-type", "application/json");
        if let Some(login) = endpoint.authorization() {
            request = request.header("authorization", login);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        // The request ends after the last byte of the response.
        let _open = self.watch.as_ref().map(RequestWatch::begin);
        let response = request.send(body).map_err(|error| request_error(&error))?;
        let status = response.status().as_u16();
        let is_ok = (200..=299).contains(&status);
        let bytes_max = match status {
            200..=299 => self.limits.answer_bytes_max,
            300..=399 => {
                return Err(wrong_node_error(
                    "it answers with a redirect: name the url it leads to",
                ));
            }
            402 | 413 | 429 => return Err(rate_limit_error(status)),
            _ => REFUSAL_BYTES_MAX,
        };
        let body = response.into_body().into_with_config();
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, body.limit(bytes_max).reader());
        if matches!(status, 401 | 403) {
            return Err(login_error(status, &mut reader));
        }
        match read_json(reader, seed) {
            Err(_) if !is_ok => {
                Err(NodeError::Unreachable(format!("it answered with status {status}")))
            }
            value => Ok(HttpResponse { is_ok, status, value: value? }),
        }
    }
}

/// Returns the error for a rejected login. TronGrid also returns 403 for a key over its rate limit
/// (<https://developers.tron.network/reference/rate-limits>).
fn login_error(status: u16, body: &mut impl Read) -> NodeError {
    let mut bytes = Vec::new();
    // The text is useful even if the body is incomplete.
    let _ = body.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
    if LIMIT_WORDS.iter().any(|words| text.contains(words)) {
        return rate_limit_error(status);
    }
    wrong_node_error(&format!(
        "it refuses the login (status {status}): correct the login in its url, or send its API key with --node-header"
    ))
}

fn rate_limit_error(status: u16) -> NodeError {
    NodeError::Limited(format!("it answered with status {status}"))
}

fn read_json<'de, S: DeserializeSeed<'de>>(
    from: impl Read,
    seed: S,
) -> Result<S::Value, NodeError> {
    let mut json = serde_json::Deserializer::from_reader(from);
    let value = seed.deserialize(&mut json).map_err(response_error)?;
    json.end().map_err(response_error)?;
    Ok(value)
}
