//! Tracks in which blocks servers report the transactions of watched addresses, and proves these reports.

use super::hex::{Hash256, format_hash};
use super::server::Server;
use super::{Electrum, ParsedTransaction, hex, proof};
use crate::chain::{NodeError, WatchTargets};
use crate::domain::address;
use crate::domain::following::PolledAddress;
use crate::domain::time::Time;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Largest number of spent outputs whose scripts are looked up in one step.
const PARENTS_MAX: usize = 50;
/// Number of newest blocks examined in the history of a spent output's script.
const SPENDERS_DEPTH: u32 = 400;
/// Largest number of transactions examined in the history of a spent output's script.
const SPENDERS_MAX: usize = 100;

/// Location of a transaction, as servers report it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportedLocation {
    /// Height of the block; `None` while every server reports the transaction in its mempool.
    pub height: Option<u32>,
    /// Index of the server that reports this height.
    pub server: usize,
    /// `true` if a server reports the transaction in its mempool.
    pub is_in_mempool: bool,
    /// Earliest time at which an address that the transaction pays was assigned. `None` if the transaction pays no
    /// watched address, but may spend a watched output.
    pub since: Option<Time>,
}

/// Proven location of a transaction in a block.
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
    /// Updates the histories of watched addresses from all servers.
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
        let mut reports = HashMap::new();
        for (place, server) in self.servers.iter().enumerate() {
            for (script, since) in &ours {
                for entry in server.watched_history(script) {
                    add_report(&mut reports, entry.id, entry.height, place, Some(*since));
                }
            }
            for script in spent.iter().filter(|script| !ours.contains_key(*script)) {
                let entries = server.watched_history(script).iter().rev();
                let new = |height: Option<u32>| height.is_none_or(|height| height >= lowest);
                let entries = entries.filter(|entry| new(entry.height));
                for entry in entries.take(SPENDERS_MAX) {
                    add_report(&mut reports, entry.id, entry.height, place, None);
                }
            }
        }
        self.reports = reports;
        let reports = &self.reports;
        self.transactions.retain(|id, _| reports.contains_key(id));
        self.proven.retain(|id, _| reports.contains_key(id));
        Ok(())
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
        let (chain, network) = (self.chain, self.network);
        let take_backoff_step = self.server(place).map(Server::take_backoff_step);
        if take_backoff_step.unwrap_or(true) {
            return;
        }
        let asked = self.watch_scripts_on_server(place, network, wanted);
        if let (Err(error), Ok(server)) = (asked, self.server(place)) {
            log::warn!(
                "secondary server failed: chain={chain} server={} error={error}",
                server.url.label()
            );
            server.back_off();
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

    /// Fetches missing transactions, each from the server that reports it. Skips transactions that the first server
    /// no longer has.
    pub(super) fn fetch_transactions(&mut self, ids: &[Hash256]) -> Result<(), NodeError> {
        for place in 0..self.servers.len() {
            let is_its = |id: &&Hash256| {
                let report = self.reports.get(*id);
                !self.transactions.contains_key(*id)
                    && report.is_some_and(|report| report.server == place)
            };
            let new: Vec<Hash256> = ids.iter().filter(is_its).copied().collect();
            let found = match self.server(place)?.fetch_transactions(&new) {
                Err(error) if place > 0 => {
                    log::warn!("secondary server failed: chain={} error={error}", self.chain);
                    continue;
                }
                found => found?,
            };
            let found = found.into_iter().flatten().map(|one| (one.id, one));
            self.transactions.extend(found);
        }
        Ok(())
    }

    /// Proves the reported location of a transaction. Returns `None` if a secondary server has no valid proof.
    pub(super) fn prove_location(
        &mut self,
        id: &Hash256,
        height: u32,
        server: usize,
    ) -> Result<Option<ProvenLocation>, NodeError> {
        let Some(header) = self.header_at(height)? else {
            return Ok(None);
        };
        if let Some(known) = self.proven.get(id)
            && (known.height, known.block) == (height, header.hash)
        {
            return Ok(Some(*known));
        }
        let response = match self.server(server)?.fetch_proof(id, height) {
            Err(error) if server > 0 => {
                log::warn!("secondary server failed: chain={} error={error}", self.chain);
                return Ok(None);
            }
            response => response?,
        };
        let Some((position, branch)) = response else {
            // A reorg removed the block, or the report was wrong.
            return if server > 0 { Ok(None) } else { Err(self.distrust_histories(id)) };
        };
        if proof::merkle_root(*id, position, &branch) != Some(header.merkle_root()) {
            let id = format_hash(id);
            let error = self
                .invalid_answer(server, format!("its proof of {id} in block {height} is false"));
            log::warn!("false proof: chain={} error={error}", self.chain);
            return if server > 0 { Ok(None) } else { Err(error) };
        }
        let proven = ProvenLocation { height, block: header.hash, position };
        self.proven.insert(*id, proven);
        Ok(Some(proven))
    }

    /// Marks the histories that contain this transaction for a reload, because the first server does not have the
    /// transaction. Returns the error for the caller.
    pub(super) fn distrust_histories(&mut self, id: &Hash256) -> NodeError {
        match self.server(0) {
            Ok(server) => server.reload_histories_containing(id),
            Err(error) => return error,
        }
        NodeError::Behind
    }

    /// Returns a transaction that was fetched earlier.
    pub(super) fn fetched_transaction(&self, id: &Hash256) -> Option<&ParsedTransaction> {
        self.transactions.get(id)
    }
}

/// Adds the report of one server. A report of a block takes precedence over a report of a mempool, because a block
/// can be proven.
fn add_report(
    reports: &mut HashMap<Hash256, ReportedLocation>,
    id: Hash256,
    height: Option<u32>,
    server: usize,
    since: Option<Time>,
) {
    let report = reports.entry(id).or_insert(ReportedLocation {
        height,
        server,
        is_in_mempool: false,
        since,
    });
    report.since = report.since.into_iter().chain(since).min();
    report.is_in_mempool |= height.is_none();
    if report.height.is_none() && height.is_some() {
        report.height = height;
        report.server = server;
    }
}
