//! Where the transactions of watched addresses are, as the servers say, and the proof of it.

use super::hex::{Hash, hash_text};
use super::server::Server;
use super::{Electrum, Transaction, hex, proof};
use crate::chain::{NodeError, Watched};
use crate::domain::address;
use crate::domain::following::Named;
use crate::domain::time::Time;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// The most spent outputs whose scripts are found out in one step.
const PARENTS_MAX: usize = 50;
/// Of the script of a spent output so many blocks are looked at, and so many transactions.
const SPENDERS_DEPTH: u32 = 400;
const SPENDERS_MAX: usize = 100;

/// A transaction that a server tells of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    /// Height of its block, as the server says; `None` while all have it in their mempools.
    pub height: Option<u32>,
    /// Place of the server that says so.
    pub server: usize,
    /// `true`: a server has it in its mempool.
    pub is_in_mempool: bool,
    /// Time before which nobody had the addresses of ours that it concerns; `None` where it concerns none, and perhaps
    /// spends an output that is watched.
    pub since: Option<Time>,
}

/// The place of a transaction in a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proven {
    pub height: u32,
    pub block: Hash,
    pub position: u32,
}

/// Returns the hash by which servers know a script.
pub(super) fn script_hash(script: &[u8]) -> String {
    hash_text(&Sha256::digest(script).into())
}

impl Electrum {
    /// Asks all servers about the addresses that are watched, and notes what has changed.
    pub(super) fn refresh(&mut self, watched: &dyn Watched) -> Result<(), NodeError> {
        self.identified()?;
        let ours = self.named_scripts(watched);
        let spent = self.spent_scripts(watched)?;
        let wanted: HashSet<&str> = ours.keys().chain(&spent).map(String::as_str).collect();
        self.server(0)?.watch(&wanted)?;
        for place in 1..self.servers.len() {
            self.watch_besides(place, &wanted);
        }
        let lowest = self.claimed.map_or(0, |(height, _)| height);
        let lowest = lowest.saturating_sub(SPENDERS_DEPTH);
        let mut sightings = HashMap::new();
        for (place, server) in self.servers.iter().enumerate() {
            for (script, since) in &ours {
                for entry in server.watched(script) {
                    note(&mut sightings, entry.id, entry.height, place, Some(*since));
                }
            }
            for script in spent.iter().filter(|script| !ours.contains_key(*script)) {
                let entries = server.watched(script).iter().rev();
                let new = |height: Option<u32>| height.is_none_or(|height| height >= lowest);
                let entries = entries.filter(|entry| new(entry.height));
                for entry in entries.take(SPENDERS_MAX) {
                    note(&mut sightings, entry.id, entry.height, place, None);
                }
            }
        }
        self.sightings = sightings;
        let sightings = &self.sightings;
        self.transactions.retain(|id, _| sightings.contains_key(id));
        self.proven.retain(|id, _| sightings.contains_key(id));
        Ok(())
    }

    /// Returns the hashes of the scripts of the addresses that are asked about, and since when somebody may have them.
    fn named_scripts(&mut self, watched: &dyn Watched) -> HashMap<String, Time> {
        let chain = self.chain;
        let mut before = std::mem::take(&mut self.scripts);
        let mut ours = HashMap::new();
        for Named { address, since, .. } in watched.named() {
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

    /// Asks a further server, whose failures stop nothing.
    fn watch_besides(&mut self, place: usize, wanted: &HashSet<&str>) {
        let (chain, network) = (self.chain, self.network);
        let is_resting = self.server(place).map(Server::is_resting);
        if is_resting.unwrap_or(true) {
            return;
        }
        let asked = self.watch_at(place, network, wanted);
        if let (Err(error), Ok(server)) = (asked, self.server(place)) {
            log::warn!("{chain}: {}: the server {error}", server.url.shown());
            server.rest();
        }
    }

    fn watch_at(
        &mut self,
        place: usize,
        network: Option<&str>,
        wanted: &HashSet<&str>,
    ) -> Result<(), NodeError> {
        if self.server(place)?.is_new()? {
            let found = self.network_at(place)?;
            if Some(found) != network {
                return Err(NodeError::Wrong(format!("it is a server of {found}")));
            }
        }
        self.server(place)?.watch(wanted)
    }

    /// Returns the hashes of the scripts of the outputs whose spending is watched.
    fn spent_scripts(&mut self, watched: &dyn Watched) -> Result<HashSet<String>, NodeError> {
        let outputs = watched.outputs();
        self.parents.retain(|output, _| outputs.contains(output));
        let new: HashSet<Hash> = outputs
            .iter()
            .filter(|output| !self.parents.contains_key(*output))
            .filter_map(|(txid, _)| hex::hash(txid))
            .take(PARENTS_MAX)
            .collect();
        let new: Vec<Hash> = new.into_iter().collect();
        let found = self.server(0)?.transactions(&new)?;
        for (id, found) in new.iter().zip(found) {
            let txid = hash_text(id);
            for output in outputs.iter().filter(|(of, _)| *of == txid) {
                let outputs = found.iter().flat_map(|found| &found.outputs);
                let mut at = outputs.filter(|one| one.position == output.1);
                let script = at.next().map(|one| script_hash(&one.script));
                self.parents.insert(output.clone(), script);
            }
        }
        Ok(self.parents.values().flatten().cloned().collect())
    }

    /// Fetches those of these transactions that are not there yet, each from the server that tells of it. One that the first
    /// server does not have any more is left out.
    pub(super) fn fetch(&mut self, ids: &[Hash]) -> Result<(), NodeError> {
        for place in 0..self.servers.len() {
            let is_its = |id: &&Hash| {
                let sighting = self.sightings.get(*id);
                !self.transactions.contains_key(*id)
                    && sighting.is_some_and(|sighting| sighting.server == place)
            };
            let new: Vec<Hash> = ids.iter().filter(is_its).copied().collect();
            let found = match self.server(place)?.transactions(&new) {
                Err(error) if place > 0 => {
                    log::warn!("{}: a further server {error}", self.chain);
                    continue;
                }
                found => found?,
            };
            let found = found.into_iter().flatten().map(|one| (one.id, one));
            self.transactions.extend(found);
        }
        Ok(())
    }

    /// Returns the place of a transaction in the block that a server says it is in. `None` where a further server cannot
    /// prove it.
    pub(super) fn prove(
        &mut self,
        id: &Hash,
        height: u32,
        server: usize,
    ) -> Result<Option<Proven>, NodeError> {
        let Some(header) = self.header_at(height)? else {
            return Ok(None);
        };
        if let Some(known) = self.proven.get(id)
            && (known.height, known.block) == (height, header.hash)
        {
            return Ok(Some(*known));
        }
        let told = match self.server(server)?.proof(id, height) {
            Err(error) if server > 0 => {
                log::warn!("{}: a further server {error}", self.chain);
                return Ok(None);
            }
            told => told?,
        };
        let Some((position, branch)) = told else {
            // Its block was reorganised away meanwhile, or never was.
            return if server > 0 {
                Ok(None)
            } else {
                Err(self.doubted(id))
            };
        };
        if proof::root(*id, position, &branch) != Some(header.root()) {
            let id = hash_text(id);
            let error = self.lied(
                server,
                format!("its proof of {id} in block {height} is false"),
            );
            log::warn!("{}: a server {error}", self.chain);
            return if server > 0 { Ok(None) } else { Err(error) };
        }
        let proven = Proven {
            height,
            block: header.hash,
            position,
        };
        self.proven.insert(*id, proven);
        Ok(Some(proven))
    }

    /// Has the histories with a transaction read again: the first server says more than it has.
    pub(super) fn doubted(&mut self, id: &Hash) -> NodeError {
        match self.server(0) {
            Ok(server) => server.doubt(id),
            Err(error) => return error,
        }
        NodeError::Behind
    }

    /// Returns a transaction that was fetched.
    pub(super) fn fetched(&self, id: &Hash) -> Option<&Transaction> {
        self.transactions.get(id)
    }
}

/// Notes what one server says of a transaction. A block counts more than a mempool: it has to be proved.
fn note(
    sightings: &mut HashMap<Hash, Sighting>,
    id: Hash,
    height: Option<u32>,
    server: usize,
    since: Option<Time>,
) {
    let sighting = sightings.entry(id).or_insert(Sighting {
        height,
        server,
        is_in_mempool: false,
        since,
    });
    sighting.since = sighting.since.into_iter().chain(since).min();
    sighting.is_in_mempool |= height.is_none();
    if sighting.height.is_none() && height.is_some() {
        sighting.height = height;
        sighting.server = server;
    }
}
