//! One Electrum server: its connections, and the histories of watched scripts.
//!
//! Invariant: a history is read again when the status of its script changes. After a reconnect, the status of every
//! script is compared with its earlier status.

mod subscriptions;

use super::connection::{CallResult, Connection, unexpected_error};
use super::headers::{RawHeader, parse_all};
use super::hex::{self, Hash256, format_hash};
use super::transaction::ParsedTransaction;
use super::url::ServerUrl;
use crate::chain::NodeError;
use crate::chain::rpc::{Limits, MethodError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Base-2 logarithm of the largest number of steps in which a failing secondary server gets no request.
const BACKOFF_MAX_LOG2: u32 = 6;

pub(super) struct Server {
    pub url: ServerUrl,
    limits: Limits,
    /// Connections to the server. The first connection makes all calls except subscriptions.
    connections: Vec<Connection>,
    /// Histories by script hash.
    histories: HashMap<String, ScriptHistory>,
    /// Number of calls made on connections that are now closed.
    calls_before: u64,
    /// Number of bytes read and written on connections that are now closed.
    bytes_before: u64,
    /// Number of the first connection. The number increases with each reconnect.
    epoch: u64,
    /// Number of the first connection when the network was last checked.
    checked_on: Option<u64>,
    /// Number of failures in a row.
    failures: u32,
    /// Number of remaining steps of the backoff.
    backoff_steps: u32,
    /// Largest number of subscriptions per connection; `None` if the server has no limit.
    pub subscriptions_max: Option<usize>,
    /// SHA-256 of the server's certificate, from the last connection.
    pub fingerprint: Option<[u8; 32]>,
    /// Name and version of the server software, from the last connection.
    pub software: String,
}

/// Subscription and history of a script.
#[derive(Default)]
struct ScriptHistory {
    /// Index of the connection on which the script is subscribed.
    connection: Option<usize>,
    /// Last status that the server sent for the script.
    last_status: Option<String>,
    /// Status of the script when `entries` was read. The outer `None` means that `entries` was never read.
    entries_status: Option<Option<String>>,
    entries: Vec<HistoryEntry>,
}

/// A transaction in the history of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HistoryEntry {
    pub id: Hash256,
    /// Height of the block; `None` while the transaction is in the mempool.
    pub height: Option<u32>,
}

#[derive(Deserialize)]
struct HistoryItemJson {
    tx_hash: String,
    height: i64,
}

#[derive(Deserialize)]
struct TipResponse {
    height: u32,
    hex: String,
}

#[derive(Deserialize)]
struct HeadersResponse {
    hex: Option<String>,
    headers: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct MerkleResponse {
    pos: u32,
    merkle: Vec<String>,
}

impl Server {
    pub(super) fn new(url: ServerUrl, limits: Limits) -> Server {
        Server {
            url,
            limits,
            connections: Vec::new(),
            histories: HashMap::new(),
            calls_before: 0,
            bytes_before: 0,
            epoch: 0,
            checked_on: None,
            failures: 0,
            backoff_steps: 0,
            subscriptions_max: None,
            fingerprint: None,
            software: String::new(),
        }
    }

    /// Returns the number of calls made.
    pub(super) fn call_count(&self) -> u64 {
        let open = self.connections.iter().map(Connection::call_count);
        open.fold(self.calls_before, u64::saturating_add)
    }

    /// Returns the bytes read and written.
    pub(super) fn traffic_bytes(&self) -> u64 {
        let open = self.connections.iter().map(Connection::traffic_bytes);
        open.fold(self.bytes_before, u64::saturating_add)
    }

    /// Connects if there is no connection. Returns the number of the first connection.
    pub(super) fn ensure_connected(&mut self) -> Result<u64, NodeError> {
        if self.connections.is_empty() {
            self.connect()?;
        }
        Ok(self.epoch)
    }

    /// Returns `true` at the first call after each new connection.
    pub(super) fn take_new_connection_flag(&mut self) -> Result<bool, NodeError> {
        let epoch = self.ensure_connected()?;
        Ok(self.checked_on.replace(epoch) != Some(epoch))
    }

    /// Returns `true` during a backoff, and consumes one step of the backoff.
    pub(super) fn take_backoff_step(&mut self) -> bool {
        let take_backoff_step = self.backoff_steps > 0;
        self.backoff_steps = self.backoff_steps.saturating_sub(1);
        take_backoff_step
    }

    /// Closes the connections and forgets all histories. Starts a backoff that doubles with each failure.
    pub(super) fn back_off(&mut self) {
        self.close();
        self.histories.clear();
        self.failures = self.failures.saturating_add(1).min(BACKOFF_MAX_LOG2);
        self.backoff_steps = 1_u32.checked_shl(self.failures).unwrap_or(1);
    }

    fn connect(&mut self) -> Result<(), NodeError> {
        let connection = Connection::open(&self.url, self.limits)?;
        if self.connections.is_empty() {
            self.epoch = self.epoch.saturating_add(1);
            self.fingerprint = connection.fingerprint;
            self.software.clone_from(&connection.software);
        }
        self.connections.push(connection);
        Ok(())
    }

    /// Closes all connections, and keeps the histories. The next connections read only histories whose status has
    /// changed.
    pub(super) fn close(&mut self) {
        self.calls_before = self.call_count();
        self.bytes_before = self.traffic_bytes();
        self.connections.clear();
        for history in self.histories.values_mut() {
            history.connection = None;
        }
    }

    /// Makes one call for each set of parameters.
    fn call_all<T: DeserializeOwned>(
        &mut self,
        place: usize,
        method: &str,
        params: Vec<Value>,
    ) -> Result<Vec<Result<T, MethodError>>, NodeError> {
        let mut read = Vec::with_capacity(params.len());
        for outcome in self.call_all_raw(place, method, params)? {
            read.push(match outcome {
                Ok(result) => match serde_json::from_str(result.get()) {
                    Ok(value) => Ok(value),
                    Err(_) => {
                        return Err(
                            self.invalid_answer(format!("its answer to {method} is another"))
                        );
                    }
                },
                Err(error) => Err(error),
            });
        }
        Ok(read)
    }

    /// Makes the calls of [`Server::call_all`], and returns unparsed results. The method is not generic, so that it
    /// is compiled only once.
    fn call_all_raw(
        &mut self,
        place: usize,
        method: &str,
        params: Vec<Value>,
    ) -> Result<Vec<CallResult>, NodeError> {
        self.ensure_connected()?;
        let connection = self.connections.get_mut(place);
        let connection = connection.ok_or_else(|| NodeError::Unreachable("closed".to_owned()))?;
        let outcomes = connection.call_all(method, &params);
        if outcomes.is_err() {
            self.close();
        }
        outcomes
    }

    fn call<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<Result<T, MethodError>, NodeError> {
        let outcome = self.call_all(0, method, vec![params])?.pop();
        outcome.ok_or_else(|| NodeError::Lied("it left out an answer".to_owned()))
    }

    /// Closes the connections. Returns [`NodeError::Lied`] with this text.
    pub(super) fn invalid_answer(&mut self, text: String) -> NodeError {
        self.close();
        NodeError::Lied(text)
    }

    /// Returns height and header of the server's tip.
    pub(super) fn fetch_tip(&mut self) -> Result<(u32, RawHeader), NodeError> {
        let method = "blockchain.headers.subscribe";
        for connection in &mut self.connections {
            connection.has_new_block = false;
        }
        let head = self.call::<TipResponse>(method, json!([]))?;
        let head = head.map_err(|error| unexpected_error(method, &error))?;
        let header = hex::parse_bytes(&head.hex).and_then(|bytes| RawHeader::parse(&bytes));
        match header {
            Some(header) => Ok((head.height, header)),
            None => Err(self.invalid_answer("its newest header is none".to_owned())),
        }
    }

    /// Returns up to `count` headers, beginning at a height. The server returns fewer at the tip, or because of its
    /// own limit.
    pub(super) fn fetch_headers(
        &mut self,
        from: u32,
        count: u32,
    ) -> Result<Vec<RawHeader>, NodeError> {
        let method = "blockchain.block.headers";
        let response = match self.call::<HeadersResponse>(method, json!([from, count]))? {
            Ok(response) => response,
            // The server has no header at this height.
            Err(_) => return Ok(Vec::new()),
        };
        let text = response.hex.or_else(|| response.headers.map(|headers| headers.concat()));
        let headers = text.and_then(|text| parse_all(&hex::parse_bytes(&text)?));
        let most = usize::try_from(count).unwrap_or(usize::MAX);
        match headers.filter(|headers| headers.len() <= most) {
            Some(headers) => Ok(headers),
            None => Err(self.invalid_answer(format!("its headers from {from} on are none"))),
        }
    }

    /// Fetches these transactions, and checks that each id is the hash of the bytes. `None` for a transaction that
    /// the server does not have.
    pub(super) fn fetch_transactions(
        &mut self,
        ids: &[Hash256],
    ) -> Result<Vec<Option<ParsedTransaction>>, NodeError> {
        let params = ids.iter().map(|id| json!([format_hash(id)])).collect();
        let method = "blockchain.transaction.get";
        let mut found = Vec::with_capacity(ids.len());
        for (id, response) in ids.iter().zip(self.call_all::<String>(0, method, params)?) {
            let raw = match response {
                Ok(raw) => raw,
                Err(error) if is_unknown_transaction(&error) => {
                    found.push(None);
                    continue;
                }
                Err(error) => return Err(unexpected_error(method, &error)),
            };
            let read = hex::parse_bytes(&raw).and_then(|bytes| ParsedTransaction::parse(&bytes));
            match read.filter(|read| read.id == *id) {
                Some(read) => found.push(Some(read)),
                None => {
                    let id = format_hash(id);
                    return Err(self
                        .invalid_answer(format!("the bytes of transaction {id} are not its own")));
                }
            }
        }
        Ok(found)
    }

    /// Returns the position and the Merkle branch of a transaction. `None` if the server reports that the transaction
    /// is not in the block.
    pub(super) fn fetch_proof(
        &mut self,
        id: &Hash256,
        height: u32,
    ) -> Result<Option<(u32, Vec<Hash256>)>, NodeError> {
        let params = json!([format_hash(id), height]);
        let method = "blockchain.transaction.get_merkle";
        let Ok(response) = self.call::<MerkleResponse>(method, params)? else {
            return Ok(None);
        };
        let branch: Option<Vec<Hash256>> =
            response.merkle.iter().map(|hash| hex::parse_hash(hash)).collect();
        match branch {
            Some(branch) => Ok(Some((response.pos, branch))),
            None => Err(self.invalid_answer("a Merkle branch has hashes that are none".to_owned())),
        }
    }

    /// Returns the fee rate for a confirmation within `blocks` blocks, in coins per 1 000 virtual bytes.
    pub(super) fn fetch_fee_rate(
        &mut self,
        blocks: u32,
    ) -> Result<Option<serde_json::Number>, NodeError> {
        let response = self.call("blockchain.estimatefee", json!([blocks]))?;
        Ok(response.ok())
    }

    /// Returns the history of a script hash without a subscription. `None` if the history is too long for the server.
    pub(super) fn fetch_history(
        &mut self,
        script: &str,
    ) -> Result<Option<Vec<HistoryEntry>>, NodeError> {
        let method = "blockchain.scripthash.get_history";
        let response = self.call::<Vec<HistoryItemJson>>(method, json!([script]))?;
        response.ok().map(|response| self.parse_history(response)).transpose()
    }

    fn parse_history(
        &mut self,
        response: Vec<HistoryItemJson>,
    ) -> Result<Vec<HistoryEntry>, NodeError> {
        let entry = |response: HistoryItemJson| {
            Some(HistoryEntry {
                id: hex::parse_hash(&response.tx_hash)?,
                height: u32::try_from(response.height).ok().filter(|height| *height > 0),
            })
        };
        let entries: Option<Vec<HistoryEntry>> = response.into_iter().map(entry).collect();
        entries.ok_or_else(|| self.invalid_answer("a history has ids that are none".to_owned()))
    }
}

/// Returns `true` if the error says that there is no such transaction.
fn is_unknown_transaction(error: &MethodError) -> bool {
    const UNKNOWN_METHOD: i64 = -32601;
    let text = error.message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
    let is_about_transaction = says(&["transaction", "tx"]) && !says(&["method"]);
    error.code != UNKNOWN_METHOD
        && is_about_transaction
        && says(&["no such", "not found", "missing", "unknown"])
}

#[cfg(test)]
mod tests {
    use super::{MethodError, is_unknown_transaction};

    #[test]
    fn only_an_error_about_the_transaction_means_that_it_is_unknown() {
        for (code, message, is_unknown) in [
            (
                -5,
                "No such mempool or blockchain transaction. Use gettransaction for wallet transactions.",
                true,
            ),
            (
                2,
                "daemon error: {'code': -5, 'message': 'No such mempool or blockchain transaction.'}",
                true,
            ),
            (1, "missing transaction", true),
            (-32603, "tx not found", true),
            (-32601, "unknown transaction", false),
            (-32600, "unknown method blockchain.transaction.get", false),
            (1, "unknown error", false),
            (2, "daemon error: file not found", false),
            (2, "missing response", false),
        ] {
            let error = MethodError { code, message: message.to_owned() };
            assert_eq!(is_unknown_transaction(&error), is_unknown, "{message}");
        }
    }
}
