//! One Electrum server: its connections, and the histories of the scripts that are watched at it.
//!
//! Invariant: a history is that of the status that the server told last. A new connection compares every status.

mod subscriptions;

use super::connection::{Connection, Outcome, unexpected};
use super::headers::{Header, parse_all};
use super::hex::{self, Hash, hash_text};
use super::transaction::Transaction;
use super::url::ServerUrl;
use crate::chain::NodeError;
use crate::chain::rpc::{Limits, MethodError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The most steps in which a further server that fails is not asked: 2 to this power.
const RESTS_MAX_LOG: u32 = 6;

/// A server.
pub(super) struct Server {
    pub url: ServerUrl,
    limits: Limits,
    /// The first one answers what is no subscription.
    connections: Vec<Connection>,
    /// By script hash.
    histories: HashMap<String, History>,
    /// Calls and bytes over connections that are closed.
    calls_before: u64,
    bytes_before: u64,
    /// Changes with each new connection.
    epoch: u64,
    /// Connection over which the network was checked.
    checked_in: Option<u64>,
    /// Failures in a row, and steps in which it is not asked after them.
    failures: u32,
    rests_for: u32,
    /// Subscriptions that one connection takes, where the server limits them.
    pub subscriptions_max: Option<usize>,
    /// SHA-256 of its certificate, and its program, as it told them last.
    pub fingerprint: Option<[u8; 32]>,
    pub software: String,
}

/// The history of a script.
#[derive(Default)]
struct History {
    /// Place of the connection that is told of changes.
    connection: Option<usize>,
    /// Status that was told last.
    told: Option<String>,
    /// Status of the entries; the outer `None` before they were asked for.
    read: Option<Option<String>>,
    entries: Vec<Entry>,
}

/// A transaction in the history of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub id: Hash,
    /// Height of its block; `None` while it is in the mempool.
    pub height: Option<u32>,
}

#[derive(Deserialize)]
struct ToldEntry {
    tx_hash: String,
    height: i64,
}

#[derive(Deserialize)]
struct ToldHead {
    height: u32,
    hex: String,
}

#[derive(Deserialize)]
struct ToldHeaders {
    hex: Option<String>,
    headers: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct ToldProof {
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
            checked_in: None,
            failures: 0,
            rests_for: 0,
            subscriptions_max: None,
            fingerprint: None,
            software: String::new(),
        }
    }

    /// Returns how many calls were made.
    pub(super) fn calls(&self) -> u64 {
        let open = self.connections.iter().map(Connection::calls);
        open.fold(self.calls_before, u64::saturating_add)
    }

    /// Returns how many bytes were read and written.
    pub(super) fn bytes(&self) -> u64 {
        let open = self.connections.iter().map(Connection::bytes);
        open.fold(self.bytes_before, u64::saturating_add)
    }

    /// Returns the number of the connection that is open, after connecting where none is.
    pub(super) fn connected(&mut self) -> Result<u64, NodeError> {
        if self.connections.is_empty() {
            self.connect()?;
        }
        Ok(self.epoch)
    }

    /// Returns `true` once for each connection.
    pub(super) fn is_new(&mut self) -> Result<bool, NodeError> {
        let epoch = self.connected()?;
        Ok(self.checked_in.replace(epoch) != Some(epoch))
    }

    /// Returns `true` in steps in which it is not asked.
    pub(super) fn is_resting(&mut self) -> bool {
        let is_resting = self.rests_for > 0;
        self.rests_for = self.rests_for.saturating_sub(1);
        is_resting
    }

    /// Forgets what it told, and asks it again some steps later, ever more after each failure.
    pub(super) fn rest(&mut self) {
        self.close();
        self.histories.clear();
        self.failures = self.failures.saturating_add(1).min(RESTS_MAX_LOG);
        self.rests_for = 1_u32.checked_shl(self.failures).unwrap_or(1);
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

    /// Closes all connections. Histories are kept, and compared by the next ones.
    pub(super) fn close(&mut self) {
        self.calls_before = self.calls();
        self.bytes_before = self.bytes();
        self.connections.clear();
        for history in self.histories.values_mut() {
            history.connection = None;
        }
    }

    /// Makes the same call with each of these parameters.
    fn call_all<T: DeserializeOwned>(
        &mut self,
        place: usize,
        method: &str,
        params: Vec<Value>,
    ) -> Result<Vec<Result<T, MethodError>>, NodeError> {
        let mut read = Vec::with_capacity(params.len());
        for outcome in self.outcomes(place, method, params)? {
            read.push(match outcome {
                Ok(result) => match serde_json::from_str(result.get()) {
                    Ok(value) => Ok(value),
                    Err(_) => return Err(self.lied(format!("its answer to {method} is another"))),
                },
                Err(error) => Err(error),
            });
        }
        Ok(read)
    }

    /// The same, with the answers as they came. Not generic, so that there is one of it in the program.
    fn outcomes(
        &mut self,
        place: usize,
        method: &str,
        params: Vec<Value>,
    ) -> Result<Vec<Outcome>, NodeError> {
        self.connected()?;
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

    /// Returns an error for what cannot be believed, and closes the connections.
    pub(super) fn lied(&mut self, text: String) -> NodeError {
        self.close();
        NodeError::Lied(text)
    }

    /// Returns the newest header that the server tells of.
    pub(super) fn head(&mut self) -> Result<(u32, Header), NodeError> {
        let method = "blockchain.headers.subscribe";
        for connection in &mut self.connections {
            connection.has_new_block = false;
        }
        let head = self.call::<ToldHead>(method, json!([]))?;
        let head = head.map_err(|error| unexpected(method, &error))?;
        let header = hex::bytes(&head.hex).and_then(|bytes| Header::parse(&bytes));
        match header {
            Some(header) => Ok((head.height, header)),
            None => Err(self.lied("its newest header is none".to_owned())),
        }
    }

    /// Returns headers from a height on; fewer than asked for where there are no more, or the server gives no more at once.
    pub(super) fn headers(&mut self, from: u32, count: u32) -> Result<Vec<Header>, NodeError> {
        let method = "blockchain.block.headers";
        let told = match self.call::<ToldHeaders>(method, json!([from, count]))? {
            Ok(told) => told,
            // A height that it does not have.
            Err(_) => return Ok(Vec::new()),
        };
        let text = told
            .hex
            .or_else(|| told.headers.map(|headers| headers.concat()));
        let headers = text.and_then(|text| parse_all(&hex::bytes(&text)?));
        let most = usize::try_from(count).unwrap_or(usize::MAX);
        match headers.filter(|headers| headers.len() <= most) {
            Some(headers) => Ok(headers),
            None => Err(self.lied(format!("its headers from {from} on are none"))),
        }
    }

    /// Returns these transactions, whose bytes hash to their ids. `None` for one that it does not have.
    pub(super) fn transactions(
        &mut self,
        ids: &[Hash],
    ) -> Result<Vec<Option<Transaction>>, NodeError> {
        let params = ids.iter().map(|id| json!([hash_text(id)])).collect();
        let method = "blockchain.transaction.get";
        let mut found = Vec::with_capacity(ids.len());
        for (id, told) in ids.iter().zip(self.call_all::<String>(0, method, params)?) {
            let raw = match told {
                Ok(raw) => raw,
                Err(error) if is_absent(&error) => {
                    found.push(None);
                    continue;
                }
                Err(error) => return Err(unexpected(method, &error)),
            };
            let read = hex::bytes(&raw).and_then(|bytes| Transaction::parse(&bytes));
            match read.filter(|read| read.id == *id) {
                Some(read) => found.push(Some(read)),
                None => {
                    let id = hash_text(id);
                    return Err(self.lied(format!("the bytes of transaction {id} are not its own")));
                }
            }
        }
        Ok(found)
    }

    /// Returns the position of a transaction in a block, and the branch that should prove it. `None` where it says that the
    /// block does not have it.
    pub(super) fn proof(
        &mut self,
        id: &Hash,
        height: u32,
    ) -> Result<Option<(u32, Vec<Hash>)>, NodeError> {
        let params = json!([hash_text(id), height]);
        let method = "blockchain.transaction.get_merkle";
        let Ok(told) = self.call::<ToldProof>(method, params)? else {
            return Ok(None);
        };
        let branch: Option<Vec<Hash>> = told.merkle.iter().map(|hash| hex::hash(hash)).collect();
        match branch {
            Some(branch) => Ok(Some((told.pos, branch))),
            None => Err(self.lied("a Merkle branch has hashes that are none".to_owned())),
        }
    }

    /// Returns the coins per 1 000 virtual bytes for a block within so many, as the server writes them.
    pub(super) fn fee_rate(
        &mut self,
        blocks: u32,
    ) -> Result<Option<serde_json::Number>, NodeError> {
        let told = self.call("blockchain.estimatefee", json!([blocks]))?;
        Ok(told.ok())
    }

    /// Returns the history of a script by its hash, without watching it; `None` where it is too long for the server.
    pub(super) fn history(&mut self, script: &str) -> Result<Option<Vec<Entry>>, NodeError> {
        let method = "blockchain.scripthash.get_history";
        let told = self.call::<Vec<ToldEntry>>(method, json!([script]))?;
        told.ok().map(|told| self.entries(told)).transpose()
    }

    fn entries(&mut self, told: Vec<ToldEntry>) -> Result<Vec<Entry>, NodeError> {
        let entry = |told: ToldEntry| {
            Some(Entry {
                id: hex::hash(&told.tx_hash)?,
                height: u32::try_from(told.height).ok().filter(|height| *height > 0),
            })
        };
        let entries: Option<Vec<Entry>> = told.into_iter().map(entry).collect();
        entries.ok_or_else(|| self.lied("a history has ids that are none".to_owned()))
    }
}

/// Returns `true` if an error says that there is no such transaction.
fn is_absent(error: &MethodError) -> bool {
    let text = error.message.to_ascii_lowercase();
    ["no such", "not found", "missing", "unknown"]
        .iter()
        .any(|words| text.contains(words))
}
