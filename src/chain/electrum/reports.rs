//! Tracks in which blocks servers report the transactions of watched addresses, and proves these reports.

use super::hex::{Hash256, format_hash};
use super::server::{HistoryEntry, Server};
use super::{Electrum, ParsedTransaction, hex, proof};
use crate::chain::{NodeError, WatchTargets};
use crate::domain::{PolledAddress, Time, address};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Largest number of spent outputs whose scripts are looked up in one step.
const PARENTS_MAX: usize = 50;
/// Number of newest blocks examined in the history of a spent output's script.
const SPENDERS_DEPTH: u32 = 400;
/// Largest number of transactions examined in the history of a spent output's script.
const SPENDERS_MAX: usize = 100;

#[derive(Clone, Debug, Default)]
pub(super) struct TransactionReport {
    /// One claim for each server that reports the transaction, in the order of the servers.
    pub claims: Vec<LocationClaim>,
    /// Earliest time at which an address that the transaction pays was assigned. `None` if the transaction pays no
    /// watched address, but may spend a watched output.
    pub since: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LocationClaim {
    pub server: usize,
    /// Height of the block; `None` if the server reports the transaction in its mempool.
    pub height: Option<u32>,
}

impl TransactionReport {
    pub(super) fn is_in_mempool(&self) -> bool {
        self.claims.iter().any(|claim| claim.height.is_none())
    }

    pub(super) fn is_of_server(&self, server: usize) -> bool {
        self.claims.iter().any(|claim| claim.server == server)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ProvenLocation {
    pub height: u32,
    pub block: Hash256,
    pub position: u32,
}

/// Returns the script hash of a script, as the Electrum protocol defines it.
pub(super) fn script_hash(script: &[u8]) -> String {
    format_hash(&Sha256::digest(script).into())
}

impl Electrum {
    pub(super) fn refresh_histories(
        &mut self,
        watched: &dyn WatchTargets,
    ) -> Result<(), NodeError> {
        self.verify_network()?;
        let ours = self.polled_scripts(watched);
        let spent = self.watched_output_scripts(watched)?;
        let wanted: HashSet<&str> = ours.keys().chain(&spent).map(String::as_str).collect();
        self.server(0)?.watch_scripts(&wanted)?;
        for place in 1..self.servers.len() {
            self.watch_scripts_on_secondary_server(place, &wanted);
        }
        let lowest = self.server_tip.map_or(0, |(height, _)| height);
        let lowest = lowest.saturating_sub(SPENDERS_DEPTH);
        let mut reports: HashMap<Hash256, TransactionReport> = HashMap::new();
        let mut add = |place: usize, entry: &HistoryEntry, since: Option<Time>| {
            let claim = LocationClaim { server: place, height: entry.height };
            let report = reports.entry(entry.id).or_default();
            report.since = report.since.into_iter().chain(since).min();
            if !report.is_of_server(place) {
                report.claims.push(claim);
            }
        };
        for (place, server) in self.servers.iter().enumerate() {
            for (script, since) in &ours {
                for entry in server.watched_history(script) {
                    add(place, entry, Some(*since));
                }
            }
            for script in spent.iter().filter(|script| !ours.contains_key(*script)) {
                let entries = server.watched_history(script).iter().rev();
                let new = |height: Option<u32>| height.is_none_or(|height| height >= lowest);
                let entries = entries.filter(|entry| new(entry.height));
                for entry in entries.take(SPENDERS_MAX) {
                    add(place, entry, None);
                }
            }
        }
        self.reports = reports;
        let reports = &self.reports;
        self.transactions.retain(|id, _| reports.contains_key(id));
        self.proven.retain(|id, _| reports.contains_key(id));
        self.unread.retain(|id, _| reports.contains_key(id));
        for unread in self.unread.values_mut() {
            unread.backoff.take_step();
        }
        self.set_aside_blocks_above_tip()
    }

    /// Returns the script hash of each watched address, with the time of the address's assignment.
    fn polled_scripts(&mut self, watched: &dyn WatchTargets) -> HashMap<String, Time> {
        let chain = self.chain;
        let mut before = std::mem::take(&mut self.scripts);
        let mut ours = HashMap::new();
        for PolledAddress { address, since, .. } in watched.polled_addresses() {
            let known = before.remove(address);
            let script =
                known.or_else(|| Some(script_hash(&address::output_script(chain, address)?)));
            if let Some(script) = script {
                ours.insert(script.clone(), *since);
                self.scripts.insert(address.clone(), script);
            }
        }
        ours
    }

    /// Updates the histories from a secondary server. A failure of this server does not stop the chain.
    fn watch_scripts_on_secondary_server(&mut self, place: usize, wanted: &HashSet<&str>) {
        let network = self.network;
        let take_backoff_step = self.server(place).map(Server::take_backoff_step);
        if take_backoff_step.unwrap_or(true) {
            return;
        }
        let asked = self.watch_scripts_on_server(place, network, wanted);
        if let Err(error) = asked {
            self.back_off_from(place, &error.to_string());
        }
    }

    /// Logs the failure of a server. A secondary server is then left alone for some steps.
    pub(super) fn back_off_from(&mut self, place: usize, error: &str) {
        let chain = self.chain;
        if let Ok(server) = self.server(place) {
            log::warn!("server failed: chain={chain} server={} error={error}", server.url.label());
            if place > 0 {
                server.back_off();
            }
        }
    }

    fn watch_scripts_on_server(
        &mut self,
        place: usize,
        network: Option<&str>,
        wanted: &HashSet<&str>,
    ) -> Result<(), NodeError> {
        if self.server(place)?.take_new_connection_flag()? {
            let found = self.network_of_server(place)?;
            if Some(found) != network {
                return Err(NodeError::Wrong(format!("it is a server of {found}")));
            }
        }
        self.server(place)?.watch_scripts(wanted)
    }

    /// Returns the script hashes of the outputs whose spenders are watched.
    fn watched_output_scripts(
        &mut self,
        watched: &dyn WatchTargets,
    ) -> Result<HashSet<String>, NodeError> {
        let outputs = watched.watched_outputs();
        self.parents.retain(|output, _| outputs.contains(output));
        let new: HashSet<Hash256> = outputs
            .iter()
            .filter(|output| !self.parents.contains_key(*output))
            .filter_map(|(txid, _)| hex::parse_hash(txid))
            .take(PARENTS_MAX)
            .collect();
        let new: Vec<Hash256> = new.into_iter().collect();
        let found = self.server(0)?.fetch_transactions(&new)?;
        for (id, found) in new.iter().zip(found) {
            // A transaction that the server refuses is asked for again at the next step.
            let Ok(found) = found else { continue };
            let txid = format_hash(id);
            for output in outputs.iter().filter(|(of, _)| *of == txid) {
                let outputs = found.iter().flat_map(|found| &found.outputs);
                let mut at = outputs.filter(|one| one.position == output.1);
                let script = at.next().map(|one| script_hash(&one.script));
                self.parents.insert(output.clone(), script);
            }
        }
        Ok(self.parents.values().flatten().cloned().collect())
    }

    /// Fetches missing transactions, each from a server that reports it. A transaction that no server gives is set
    /// aside.
    pub(super) fn fetch_transactions(&mut self, ids: &[Hash256]) -> Result<(), NodeError> {
        let is_due =
            |id: &&Hash256| !self.transactions.contains_key(*id) && !self.is_backing_off_for(id);
        let mut missing: Vec<Hash256> = ids.iter().filter(is_due).copied().collect();
        let mut reasons: HashMap<Hash256, String> = HashMap::new();
        for place in 0..self.servers.len() {
            let is_its = |id: &&Hash256| {
                self.reports.get(*id).is_some_and(|report| report.is_of_server(place))
            };
            let asked: Vec<Hash256> = missing.iter().filter(is_its).copied().collect();
            if asked.is_empty() || self.server(place)?.is_backing_off() {
                continue;
            }
            let found = match self.server(place)?.fetch_transactions(&asked) {
                Err(error) if place > 0 => {
                    self.back_off_from(place, &error.to_string());
                    continue;
                }
                found => found?,
            };
            for (id, found) in asked.into_iter().zip(found) {
                match found {
                    Ok(Some(found)) => {
                        self.transactions.insert(id, found);
                    }
                    Ok(None) => {
                        // A reorg or an eviction may have removed it, so the histories are read again.
                        self.server(place)?.reload_histories_containing(&id);
                        reasons.insert(id, "lists it and does not have it".to_owned());
                    }
                    Err(reason) => {
                        reasons.insert(id, reason);
                    }
                }
            }
            missing.retain(|id| !self.transactions.contains_key(id));
        }
        for (id, reason) in reasons {
            if self.transactions.contains_key(&id) {
                self.unread.remove(&id);
            } else {
                self.set_transaction_aside(id, reason);
            }
        }
        Ok(())
    }

    /// Proves that a transaction is in a block. Tries the claim of each server, until a proof fits. `None` if none
    /// does: the transaction is then set aside, if a claim was false.
    pub(super) fn prove_claims(
        &mut self,
        id: &Hash256,
        claims: &[LocationClaim],
    ) -> Result<Option<ProvenLocation>, NodeError> {
        if self.is_backing_off_for(id) {
            return Ok(None);
        }
        let mut failure = None;
        for claim in claims {
            let tip = self.server_tip.map(|(tip, _)| tip);
            let Some(height) = claim.height.filter(|height| Some(*height) <= tip) else {
                continue;
            };
            match self.prove_claim(id, height, claim.server)? {
                Ok(proven) => {
                    self.unread.remove(id);
                    return Ok(Some(proven));
                }
                Err(reason) => {
                    self.back_off_from(claim.server, &reason);
                    self.server(claim.server)?.reload_histories_containing(id);
                    failure = Some(reason);
                }
            }
        }
        if let Some(reason) = failure {
            self.set_transaction_aside(*id, reason);
        }
        Ok(None)
    }

    /// Proves the claim of one server. The inner error says why there is no proof: the end of a sentence that begins
    /// with "its node".
    fn prove_claim(
        &mut self,
        id: &Hash256,
        height: u32,
        place: usize,
    ) -> Result<Result<ProvenLocation, String>, NodeError> {
        let Some(header) = self.header_at(height)? else {
            return Ok(Err(format!("names block {height}, which is not there")));
        };
        if let Some(known) = self.proven.get(id)
            && (known.height, known.block) == (height, header.hash)
        {
            return Ok(Ok(*known));
        }
        if self.server(place)?.is_backing_off() {
            return Ok(Err("failed in this step".to_owned()));
        }
        let (position, branch) = match self.server(place)?.fetch_proof(id, height) {
            Ok(Ok(proof)) => proof,
            Ok(Err(reason)) => return Ok(Err(reason)),
            Err(error) if place > 0 => return Ok(Err(error.to_string())),
            Err(error) => return Err(error),
        };
        if proof::merkle_root(*id, position, &branch) != Some(header.merkle_root()) {
            return Ok(Err(format!("gives a false proof for block {height}")));
        }
        let proven = ProvenLocation { height, block: header.hash, position };
        self.proven.insert(*id, proven);
        Ok(Ok(proven))
    }

    pub(super) fn fetched_transaction(&self, id: &Hash256) -> Option<&ParsedTransaction> {
        self.transactions.get(id)
    }
}
