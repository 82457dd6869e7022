//! One connection to an Electrum server: JSON-RPC, one object per line (Electrum protocol 1.4 to 1.6).
//!
//! Invariant: lines have a maximum length, each batch of calls has a deadline, and each response is matched to its
//! call. After an error the caller closes the connection.

use super::stream::{Stream, io_error};
use super::url::ServerUrl;
use crate::chain::NodeError;
use crate::chain::rpc::{Limits, MethodError};
use crate::clock::Stopwatch;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::{ErrorKind, Read, Write};

/// Oldest and newest supported version of the protocol.
const VERSIONS: [&str; 2] = ["1.4", "1.6"];
const AGENT: &str = concat!("coffer/", env!("CARGO_PKG_VERSION"));
/// Largest number of unanswered calls at the same time.
const PIPELINE_MAX: usize = 500;
/// Number of milliseconds without a line from the server after which a batch of calls sends a [`FILLER`] call. The
/// filler is sent at once if the server has reported changes, or if an earlier batch needed a filler.
const SILENCE_MS: u64 = 250;
/// Header range that a filler call requests. The response has more than 1 024 bytes. A server that pads its traffic
/// delays shorter responses by up to a second, until a packet is full (`PaddedRSTransport` of ElectrumX 2).
const FILLER: [u32; 2] = [0, 8];
/// Largest number of filler calls in one batch, and largest number of unanswered filler calls. A batch needs several
/// fillers if the server answers a filler before the other calls.
const FILLERS_MAX: usize = 20;
const CHUNK_BYTES: usize = 64 * 1024;
/// Largest length of a line. The longest honest one has a transaction of 4 MB in hexadecimal digits.
const LINE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Largest number of unread notifications. An honest server does not send more.
const NOTICES_MAX: usize = 100_000;
/// Largest length of a server's error message, in characters. A longer message is cut.
const TEXT_CHARS_MAX: usize = 200;
/// Error code of aiorpcX, the library under ElectrumX, for a client that uses too many resources.
const EXCESSIVE_RESOURCE_USAGE: i64 = -101;
/// Error code of aiorpcX for a server that is too busy.
const SERVER_BUSY: i64 = -102;
/// Largest time to wait for received lines in a poll, in milliseconds.
const POLL_MS: u64 = 1;

pub(super) type CallResult = Result<Box<RawValue>, MethodError>;

pub(super) struct Connection {
    stream: Stream,
    limits: Limits,
    /// Received bytes that are not parsed yet.
    buffer: Vec<u8>,
    /// Number of bytes at the start of the buffer that contain no line end.
    scanned: usize,
    next_id: u64,
    bytes: u64,
    /// Status of each script hash whose history changed since [`Connection::take_changed_scripts`] was last called.
    changed: HashMap<String, Option<String>>,
    /// `true` if a new block was reported since the newest header was requested.
    pub has_new_block: bool,
    /// `true` if the server has reported changes. The next batch then sends a filler at once, to avoid the delay that
    /// padding causes.
    pub is_urgent: bool,
    /// `true` if, in an earlier batch, the server responded only after a [`FILLER`] call.
    holds_back: bool,
    /// Ids of [`FILLER`] calls without a response. No caller waits for them.
    fillers: HashSet<u64>,
    /// SHA-256 of the server's certificate.
    pub fingerprint: Option<[u8; 32]>,
    /// Name and version of the server software, and the protocol version.
    pub software: String,
}

/// A line from the server: a response or a notification.
#[derive(Deserialize)]
struct ServerLine<'a> {
    id: Option<u64>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ElectrumError {
    code: Option<i64>,
    message: Option<String>,
}

impl Connection {
    /// Connects and negotiates the version of the protocol.
    pub(super) fn open(url: &ServerUrl, limits: Limits) -> Result<Connection, NodeError> {
        let (stream, fingerprint) = Stream::connect(url, limits)?;
        let mut connection = Connection {
            stream,
            limits,
            buffer: Vec::new(),
            scanned: 0,
            next_id: 0,
            bytes: 0,
            changed: HashMap::new(),
            has_new_block: false,
            is_urgent: false,
            holds_back: false,
            fillers: HashSet::new(),
            fingerprint,
            software: String::new(),
        };
        let version = connection.call("server.version", json!([AGENT, VERSIONS]))?;
        let answer = version.map_err(|error| unexpected_error("server.version", &error))?;
        let read = serde_json::from_str::<(String, String)>(answer.get());
        let (software, protocol) =
            read.map_err(|_| NodeError::Lied("it names no version of its protocol".to_owned()))?;
        connection.software = to_one_line(&format!("{software}, protocol {protocol}"));
        Ok(connection)
    }

    fn count_bytes(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Returns the bytes read and written, without TLS overhead.
    pub(super) fn traffic_bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn call_count(&self) -> u64 {
        self.next_id
    }

    pub(super) fn changed_scripts(&self) -> &HashMap<String, Option<String>> {
        &self.changed
    }

    /// Takes the script hashes that changed since the last call, with their status.
    pub(super) fn take_changed_scripts(&mut self) -> HashMap<String, Option<String>> {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn call(&mut self, method: &str, params: Value) -> Result<CallResult, NodeError> {
        let outcome = self.call_all(method, &[params])?.pop();
        outcome.ok_or_else(|| NodeError::Lied("it left out an answer".to_owned()))
    }

    /// Makes one call for each set of parameters. The results are in the same order.
    pub(super) fn call_all(
        &mut self,
        method: &str,
        params: &[Value],
    ) -> Result<Vec<CallResult>, NodeError> {
        let mut outcomes = Vec::with_capacity(params.len());
        for part in params.chunks(PIPELINE_MAX) {
            outcomes.extend(self.call_batch(method, part)?);
        }
        Ok(outcomes)
    }

    fn call_batch(&mut self, method: &str, params: &[Value]) -> Result<Vec<CallResult>, NodeError> {
        let since = Stopwatch::start();
        let first = self.next_id;
        let mut lines = String::new();
        for params in params {
            self.append_call(method, params, &mut lines);
        }
        self.stream.set_deadline(self.limits.timeout_ms);
        self.write_lines(&lines)?;
        let mut outcomes: Vec<Option<CallResult>> = Vec::new();
        outcomes.resize_with(params.len(), || None);
        let (mut missing, mut sent) = (params.len(), 0_usize);
        let mut silence = if self.is_urgent || self.holds_back { 0 } else { SILENCE_MS };
        while missing > 0 {
            let passed = u64::try_from(since.elapsed_ms()).unwrap_or(u64::MAX);
            let left = self.limits.timeout_ms.saturating_sub(passed);
            let may_fill = left > 0 && sent.max(self.fillers.len()) < FILLERS_MAX;
            let wait = if may_fill { left.min(silence) } else { left };
            self.stream.set_deadline(wait);
            let Some(line) = self.read_line()? else {
                if !may_fill {
                    return Err(io_error(&std::io::Error::from(ErrorKind::TimedOut)));
                }
                self.holds_back |= silence > 0;
                silence = SILENCE_MS;
                sent = sent.saturating_add(1);
                self.stream.set_deadline(left);
                self.send_filler()?;
                continue;
            };
            let waiting = self.fillers.len();
            let Some((id, outcome)) = self.handle_line(&line)? else {
                if self.is_urgent && self.fillers.len() < waiting {
                    silence = 0;
                }
                continue;
            };
            let place = id.checked_sub(first).and_then(|at| usize::try_from(at).ok());
            let place = place.and_then(|at| outcomes.get_mut(at));
            match place.filter(|place| place.is_none()) {
                Some(place) => *place = Some(outcome),
                None => return Err(NodeError::Lied("an answer to another call".to_owned())),
            }
            missing = missing.saturating_sub(1);
        }
        Ok(outcomes.into_iter().flatten().collect())
    }

    fn send_filler(&mut self) -> Result<(), NodeError> {
        let mut line = String::new();
        self.fillers.insert(self.next_id);
        self.append_call("blockchain.block.headers", &json!(FILLER), &mut line);
        self.write_lines(&line)
    }

    fn write_lines(&mut self, lines: &str) -> Result<(), NodeError> {
        self.count_bytes(lines.len());
        let written = self.stream.write_all(lines.as_bytes());
        let written = written.and_then(|()| self.stream.flush());
        written.map_err(|error| io_error(&error))
    }

    fn append_call(&mut self, method: &str, params: &Value, lines: &mut String) {
        let id = self.next_id;
        let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        lines.push_str(&call.to_string());
        lines.push('\n');
        self.next_id = self.next_id.saturating_add(1);
    }

    /// Handles received notifications without waiting. An incomplete line stays in the buffer.
    pub(super) fn poll_notifications(&mut self) -> Result<(), NodeError> {
        self.stream.set_deadline(POLL_MS);
        while let Some(line) = self.read_line()? {
            if self.handle_line(&line)?.is_some() {
                return Err(NodeError::Lied("an answer to no call".to_owned()));
            }
        }
        Ok(())
    }

    /// Returns the next line; `None` if it is not complete before the deadline.
    fn read_line(&mut self) -> Result<Option<Vec<u8>>, NodeError> {
        loop {
            if let Some(line) = self.take_buffered_line() {
                return Ok(Some(line));
            }
            match self.fill_buffer() {
                Err(NodeError::Behind) => return Ok(None),
                filled => filled?,
            }
        }
    }

    fn take_buffered_line(&mut self) -> Option<Vec<u8>> {
        let new = self.buffer.get(self.scanned..)?;
        let Some(end) = new.iter().position(|byte| *byte == b'\n') else {
            self.scanned = self.buffer.len();
            return None;
        };
        let end = self.scanned.saturating_add(end).saturating_add(1);
        let rest = self.buffer.split_off(end);
        self.scanned = 0;
        Some(std::mem::replace(&mut self.buffer, rest))
    }

    /// Reads more bytes; [`NodeError::Behind`] if none arrive before the deadline.
    fn fill_buffer(&mut self) -> Result<(), NodeError> {
        let most = usize::try_from(self.limits.answer_bytes_max).unwrap_or(usize::MAX);
        let most = most.min(LINE_BYTES_MAX);
        if self.buffer.len() >= most {
            let text = format!("a line of its answers has more than {most} bytes");
            return Err(NodeError::Limited(text));
        }
        let mut chunk = vec![0; CHUNK_BYTES];
        match self.stream.read(&mut chunk) {
            Ok(0) => Err(NodeError::Unreachable("the connection was closed".to_owned())),
            Ok(count) => {
                self.count_bytes(count);
                self.buffer.extend(chunk.iter().take(count));
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
                Err(NodeError::Behind)
            }
            Err(error) => Err(io_error(&error)),
        }
    }

    /// Handles one line. Returns the id and the result of a call. Returns `None` for a notification, which is stored,
    /// and for the response to a filler.
    fn handle_line(&mut self, line: &[u8]) -> Result<Option<(u64, CallResult)>, NodeError> {
        let unread = |_| NodeError::Lied("its answer is not what was asked".to_owned());
        let line: ServerLine<'_> = serde_json::from_slice(line).map_err(unread)?;
        if let Some(method) = &line.method {
            self.has_new_block |= method == "blockchain.headers.subscribe";
            if method == "blockchain.scripthash.subscribe"
                && let Some(params) = line.params
                && let Ok((hash, status)) = serde_json::from_str(params.get())
            {
                self.changed.insert(hash, status);
                if self.changed.len() > NOTICES_MAX {
                    return Err(NodeError::Limited("it sends too many notices".to_owned()));
                }
            }
            return Ok(None);
        }
        let error = line.error.map(|error| method_error(error.get()));
        if let Some(error) = error.as_ref().filter(|error| is_limit_error(error)) {
            return Err(NodeError::Limited(format!("it says: {}", error.message)));
        }
        let id = match (line.id, &error) {
            (Some(id), _) => id,
            // The server could not parse a call, and will close the connection.
            (None, Some(error)) => return Err(unexpected_error("a call", error)),
            (None, None) => return Err(NodeError::Lied("an answer to no call".to_owned())),
        };
        if self.fillers.remove(&id) {
            return Ok(None);
        }
        let nothing = || RawValue::from_string("null".to_owned()).map_err(unread);
        Ok(Some((
            id,
            match (error, line.result) {
                (Some(error), _) => Err(error),
                (None, Some(result)) => Ok(result.to_owned()),
                (None, None) => Ok(nothing()?),
            },
        )))
    }
}

/// Parses the error of a method. Some servers send only a string.
fn method_error(text: &str) -> MethodError {
    let problem = serde_json::from_str::<ElectrumError>(text);
    let (code, message) = match problem {
        Ok(problem) => (problem.code, problem.message),
        Err(_) => (None, serde_json::from_str::<String>(text).ok()),
    };
    MethodError { code: code.unwrap_or(0), message: to_one_line(&message.unwrap_or_default()) }
}

/// Returns `true` if the error asks the client to send fewer calls, or to send them later.
fn is_limit_error(error: &MethodError) -> bool {
    let text = error.message.to_ascii_lowercase();
    matches!(error.code, EXCESSIVE_RESOURCE_USAGE | SERVER_BUSY)
        || text.contains("excessive resource usage")
        || text.contains("server busy")
}

/// Converts the error of a method that must succeed.
pub(super) fn unexpected_error(method: &str, error: &MethodError) -> NodeError {
    NodeError::Unreachable(format!("{method}: {} ({})", error.message, error.code))
}

/// Returns a message of the server as one short line.
fn to_one_line(text: &str) -> String {
    let one_line = text.chars().map(|one| if one.is_control() { ' ' } else { one });
    one_line.take(TEXT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
