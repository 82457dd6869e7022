//! One request to a node over HTTP, and its answer.

use super::super::NodeError;
use super::Rpc;
use super::failure::{failed, unread, wrong};
use super::limits::BUFFER_BYTES;
use serde::de::DeserializeSeed;
use std::io::{BufReader, Read};

/// Bytes that are read of an answer whose status is an error.
const REFUSAL_BYTES_MAX: u64 = 64 * 1024;
/// Words by which a provider that answers 403 tells a limit from a wrong key.
const LIMIT_WORDS: [&str; 4] = [
    "frequency limit",
    "rate limit",
    "too many requests",
    "is suspended for",
];

/// A body that was read, and its status.
pub(super) struct Exchanged<V> {
    pub is_ok: bool,
    pub status: u16,
    pub value: V,
}

impl Rpc {
    /// Sends a body to this path below the url, and reads what comes back.
    pub(super) fn exchange<'de, S: DeserializeSeed<'de>>(
        &self,
        path: &str,
        body: &[u8],
        seed: S,
    ) -> Result<Exchanged<S::Value>, NodeError> {
        let endpoint = self.endpoint().ok_or_else(|| wrong("it has no url"))?;
        let mut request = self
            .agent
            .post(endpoint.url_of(path).as_ref())
            .header("content-type", "application/json");
        if let Some(login) = endpoint.login() {
            request = request.header("authorization", login);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let response = request.send(body).map_err(|error| failed(&error))?;
        let status = response.status().as_u16();
        let is_ok = (200..=299).contains(&status);
        let bytes_max = match status {
            200..=299 => self.limits.answer_bytes_max,
            300..=399 => {
                return Err(wrong(
                    "it answers with a redirect: name the url it leads to",
                ));
            }
            402 | 413 | 429 => return Err(limited(status)),
            _ => REFUSAL_BYTES_MAX,
        };
        let body = response.into_body().into_with_config();
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, body.limit(bytes_max).reader());
        if matches!(status, 401 | 403) {
            return Err(refused(status, &mut reader));
        }
        match read(reader, seed) {
            Err(_) if !is_ok => Err(NodeError::Unreachable(format!(
                "it answered with status {status}"
            ))),
            value => Ok(Exchanged {
                is_ok,
                status,
                value: value?,
            }),
        }
    }
}

/// Why a login is refused: TronGrid answers 403 also to a key that asks too often
/// (<https://developers.tron.network/reference/rate-limits>).
fn refused(status: u16, body: &mut impl Read) -> NodeError {
    let mut bytes = Vec::new();
    // A body that breaks off says as much as it says.
    let _ = body.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
    if LIMIT_WORDS.iter().any(|words| text.contains(words)) {
        return limited(status);
    }
    wrong(&format!("it refuses the login (status {status})"))
}

fn limited(status: u16) -> NodeError {
    NodeError::Limited(format!("it answered with status {status}"))
}

fn read<'de, S: DeserializeSeed<'de>>(from: impl Read, seed: S) -> Result<S::Value, NodeError> {
    let mut json = serde_json::Deserializer::from_reader(from);
    let value = seed.deserialize(&mut json).map_err(unread)?;
    json.end().map_err(unread)?;
    Ok(value)
}
