//! One Electrum server: its connections, and the histories of watched scripts.
//!
//! Invariant: a history is read again when the status of its script changes. After a reconnect, the status of every
//! script is compared with its earlier status.

mod item_error;
mod subscriptions;

use super::connection::{CallResult, Connection};
use super::headers::{RawHeader, parse_all};
use super::hex::{self, Hash256, format_hash};
use super::transaction::ParsedTransaction;
use super::url::ServerUrl;
use crate::chain::NodeError;
use crate::chain::backoff::StepBackoff;
use crate::chain::rpc::Limits;
use crate::clock::Stopwatch;
use item_error::{ItemError, is_unknown_transaction};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Base-2 logarithm of the longest backoff of a server, a script or a transaction, in steps.
pub(super) const BACKOFF_LOG2_MAX: u32 = 4;
/// Largest time that a server may take in one step before the step goes on without it, in milliseconds.
const STEP_MS_MAX: i64 = 10_000;
/// Why a transaction whose bytes do not hash to its id cannot be read.
const NOT_ITS_OWN: &str = "gives bytes that are not its own";

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
    backoff: StepBackoff,
    /// Time since the server was first asked in this step. `None` for the first server, which each step waits for.
    step_time: Option<Stopwatch>,
    /// Largest number of subscriptions per connection; `None` if the server has no limit.
    pub subscriptions_max: Option<usize>,
    /// SHA-256 of the server's certificate, from the last connection.
    pub fingerprint: Option<[u8; 32]>,
    /// Name and version of the server software, from the last connection.
    pub software: String,
}

#[derive(Default)]
struct ScriptHistory {
    /// Index of the connection on which the script is subscribed.
    connection: Option<usize>,
    last_status: Option<String>,
    /// Status of the script when `entries` was read. The outer `None` means that `entries` was never read.
    entries_status: Option<Option<String>>,
    entries: Vec<HistoryEntry>,
    /// Why the server does not give the history: the end of a sentence that begins with "its node".
    refusal: Option<String>,
    backoff: StepBackoff,
}

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
            backoff: StepBackoff::default(),
            step_time: None,
            subscriptions_max: None,
            fingerprint: None,
            software: String::new(),
        }
    }

    pub(super) fn call_count(&self) -> u64 {
        let open = self.connections.iter().map(Connection::call_count);
        open.fold(self.calls_before, u64::saturating_add)
    }

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

    /// Returns `true` if this step belongs to a backoff, and counts the step. Otherwise starts to measure the time that
    /// the server takes in this step.
    pub(super) fn take_backoff_step(&mut self) -> bool {
        self.step_time = Some(Stopwatch::start());
        self.backoff.take_step()
    }

    pub(super) fn is_backing_off(&self) -> bool {
        self.backoff.is_waiting()
    }

    fn is_out_of_time(&self) -> bool {
        self.step_time.as_ref().is_some_and(|since| since.elapsed_ms() > STEP_MS_MAX)
    }

    /// Closes the connections and forgets all histories. Starts a backoff that doubles with each failure.
    pub(super) fn back_off(&mut self) {
        self.close();
        self.histories.clear();
        self.backoff.record_failure(BACKOFF_LOG2_MAX);
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

    fn call_all<T: DeserializeOwned>(
        &mut self,
        place: usize,
        method: &str,
        params: Vec<Value>,
    ) -> Result<Vec<Result<T, ItemError>>, NodeError> {
        let outcomes = self.call_all_raw(place, method, params)?.into_iter();
        Ok(outcomes
            .map(|outcome| match outcome {
                Ok(result) => serde_json::from_str(result.get()).map_err(|_| ItemError::Unreadable),
                Err(error) => Err(ItemError::Method(error)),
            })
            .collect())
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
    ) -> Result<Result<T, ItemError>, NodeError> {
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
        let head = head.map_err(|error| error.into_node_error(method))?;
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
            Err(ItemError::Method(_)) => return Ok(Vec::new()),
            Err(ItemError::Unreadable) => {
                return Err(self.invalid_answer(format!("its headers from {from} on are none")));
            }
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
    /// the server does not have. The inner error is the end of a sentence that begins with "its node".
    pub(super) fn fetch_transactions(
        &mut self,
        ids: &[Hash256],
    ) -> Result<Vec<Result<Option<ParsedTransaction>, String>>, NodeError> {
        let params = ids.iter().map(|id| json!([format_hash(id)])).collect();
        let method = "blockchain.transaction.get";
        let responses = self.call_all::<String>(0, method, params)?;
        let read = |(id, response): (&Hash256, Result<String, ItemError>)| match response {
            Ok(raw) => {
                let parsed = hex::parse_bytes(&raw);
                let parsed = parsed.and_then(|bytes| ParsedTransaction::parse(&bytes));
                let own = parsed.filter(|parsed| parsed.id == *id);
                own.map(Some).ok_or_else(|| NOT_ITS_OWN.to_owned())
            }
            Err(ItemError::Method(error)) if is_unknown_transaction(&error) => Ok(None),
            Err(error) => Err(error.describe(method)),
        };
        Ok(ids.iter().zip(responses).map(read).collect())
    }

    /// Fetches the bytes of a transaction. The inner error is the end of a sentence that begins with "its node".
    pub(super) fn fetch_raw_transaction(
        &mut self,
        id: &Hash256,
    ) -> Result<Result<Vec<u8>, String>, NodeError> {
        let method = "blockchain.transaction.get";
        let response = self.call::<String>(method, json!([format_hash(id)]))?;
        Ok(response.map_err(|error| error.describe(method)).and_then(|raw| {
            let bytes = hex::parse_bytes(&raw);
            let is_own =
                |bytes: &Vec<u8>| ParsedTransaction::parse(bytes).is_some_and(|of| of.id == *id);
            bytes.filter(is_own).ok_or_else(|| NOT_ITS_OWN.to_owned())
        }))
    }

    /// Returns the position and the Merkle branch of a transaction in the block at a height. The inner error is the end
    /// of a sentence that begins with "its node".
    pub(super) fn fetch_proof(
        &mut self,
        id: &Hash256,
        height: u32,
    ) -> Result<Result<(u32, Vec<Hash256>), String>, NodeError> {
        let params = json!([format_hash(id), height]);
        let method = "blockchain.transaction.get_merkle";
        Ok(match self.call::<MerkleResponse>(method, params)? {
            Ok(response) => {
                let branch = response.merkle.iter().map(|hash| hex::parse_hash(hash));
                let branch: Option<Vec<Hash256>> = branch.collect();
                let branch = branch.map(|branch| (response.pos, branch));
                branch.ok_or_else(|| "gives a Merkle branch with hashes that are none".to_owned())
            }
            Err(error) => Err(error.describe(method)),
        })
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
        Ok(response.ok().and_then(parse_history))
    }
}

/// Parses a history; `None` if an id or a height is none. The heights 0 and -1 mean the mempool.
fn parse_history(response: Vec<HistoryItemJson>) -> Option<Vec<HistoryEntry>> {
    let entry = |response: HistoryItemJson| {
        let height = match response.height {
            -1 | 0 => None,
            height => Some(u32::try_from(height).ok()?),
        };
        Some(HistoryEntry { id: hex::parse_hash(&response.tx_hash)?, height })
    };
    response.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests;
