//! Reads blocks and mempools for payments.

use super::headers::RawHeader;
use super::hex::{self, Hash256, format_hash};
use super::reports::{LocationClaim, ProvenLocation};
use super::{Electrum, ParsedTransaction, block_time};
use crate::chain::utxo::{OutputScanner, PaidOutput, ScannedTx};
use crate::chain::{BlockRead, MempoolRead, Node, NodeError, WatchTargets};
use crate::domain::address::script_address;
use crate::domain::time::HOUR_MS;
use crate::domain::{Block, Units};
use std::collections::{BTreeMap, HashSet};

const BLOCKS_MAX: u32 = 2_000;
/// Largest number of transactions in one result of [`Node::late_payments`].
const LATE_MAX: usize = 50;
/// Largest number of mempool transactions examined in one step.
const WAITING_MAX: usize = 2_000;
/// Milliseconds by which the time of a block may be earlier than the real time.
const MINED_MARGIN_MS: i64 = 2 * HOUR_MS;
/// Largest number of lookups in one step. A transaction that is no longer in any history is looked up by its id.
const LOOKUPS_MAX: usize = 20;

impl Electrum {
    /// Implements [`Node::blocks`]: returns every block of the range.
    pub(super) fn read_blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        self.sync_headers()?;
        self.refresh_histories(watched)?;
        let tip = self.server_tip.map_or(0, |(height, _)| height);
        let last = from.saturating_add(BLOCKS_MAX.saturating_sub(1));
        let last = last.min(to).min(tip);
        if from > last {
            return Err(NodeError::Behind);
        }
        let parent = match from.checked_sub(1) {
            Some(below) => self.header_at(below)?.ok_or(NodeError::Behind)?.hash,
            None => [0; 32],
        };
        let (mut before, mut blocks) = (parent, Vec::new());
        for height in from..=last {
            let header = self.header_at(height)?.ok_or(NodeError::Behind)?;
            if header.parent_hash() != before {
                return Err(NodeError::Behind);
            }
            before = header.hash;
            blocks.push(empty_block(height, &header)?);
        }
        let in_range = |height: u32| (from..=last).contains(&height);
        let wanted = self.claimed_blocks(|_, height| in_range(height));
        for (proven, read) in self.fetch_and_prove(&wanted, watched)? {
            let place = proven.height.checked_sub(from);
            let place = place.and_then(|place| usize::try_from(place).ok());
            if let Some(block) = place.and_then(|place| blocks.get_mut(place)) {
                block.received.extend(read.received);
                block.spent.extend(read.spent);
            }
        }
        Ok(blocks)
    }

    /// Implements [`Node::late_payments`]: returns the newest transactions that were not returned before.
    pub(super) fn read_late_payments(
        &mut self,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        self.sync_headers()?;
        self.refresh_histories(watched)?;
        let mut untold =
            self.claimed_blocks(|id, height| height <= to && !self.was_returned(id, height));
        let highest =
            |claims: &[LocationClaim]| claims.iter().filter_map(|claim| claim.height).max();
        untold.sort_unstable_by_key(|(_, claims)| std::cmp::Reverse(highest(claims)));
        let times_max = self.times.len().saturating_add(LATE_MAX);
        let is_ours = |id: &Hash256| self.reports.get(id).is_some_and(|one| one.since.is_some());
        // The limit applies only to payments. All possible spenders of watched outputs are examined, because their
        // transactions are cached.
        let (untold, mut wanted): (Vec<_>, Vec<_>) =
            untold.into_iter().partition(|(id, _)| is_ours(id));
        let wanted_max = wanted.len().saturating_add(LATE_MAX);
        for (id, claims) in untold {
            if wanted.len() >= wanted_max || self.times.len() >= times_max {
                break;
            }
            let height = highest(&claims).unwrap_or(0);
            if self.may_be_mined_after_assignment(&id, height)? {
                wanted.push((id, claims));
            }
        }
        let mut blocks: BTreeMap<u32, BlockRead> = BTreeMap::new();
        for (proven, read) in self.fetch_and_prove(&wanted, watched)? {
            let header = self.header_at(proven.height)?.ok_or(NodeError::Behind)?;
            let block = match blocks.entry(proven.height) {
                std::collections::btree_map::Entry::Occupied(there) => there.into_mut(),
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(empty_block(proven.height, &header)?)
                }
            };
            block.received.extend(read.received);
            block.spent.extend(read.spent);
        }
        Ok(blocks.into_values().collect())
    }

    /// Returns `true` if an earlier step returned the transaction in the block at this height. Block hashes are
    /// compared only if the header is in memory.
    fn was_returned(&self, id: &Hash256, height: u32) -> bool {
        let headers = self.headers.as_ref();
        let there = headers.and_then(|headers| headers.header_at(height));
        let is_there = |block: &Hash256| there.is_none_or(|there| there.hash == *block);
        let told = self.returned.get(id).into_iter();
        let mut told =
            told.chain(self.pending_returned.iter().filter(|(of, _)| of == id).map(|(_, at)| at));
        told.any(|(at, block)| *at == height && is_there(block))
    }

    /// Returns `true` if the block may be newer than the assignment of the address that the transaction pays.
    fn may_be_mined_after_assignment(
        &mut self,
        id: &Hash256,
        height: u32,
    ) -> Result<bool, NodeError> {
        let Some(since) = self.reports.get(id).and_then(|one| one.since) else {
            return Ok(false);
        };
        let earliest = since.plus_ms(MINED_MARGIN_MS.saturating_neg());
        let time = match self.times.get(&height) {
            Some(time) => Some(*time),
            None => self.block_time_at(height)?,
        };
        let Some(time) = time else {
            return Ok(false);
        };
        self.times.insert(height, time);
        Ok(time >= earliest)
    }

    /// Returns the transactions that servers report in these blocks, each with the claims about them.
    fn claimed_blocks(
        &self,
        is_wanted: impl Fn(&Hash256, u32) -> bool,
    ) -> Vec<(Hash256, Vec<LocationClaim>)> {
        let in_blocks = self.reports.iter().map(|(id, report)| {
            let of_block =
                |claim: &&LocationClaim| claim.height.is_some_and(|height| is_wanted(id, height));
            (*id, report.claims.iter().filter(of_block).copied().collect())
        });
        in_blocks.filter(|(_, claims): &(_, Vec<_>)| !claims.is_empty()).collect()
    }

    /// Fetches these transactions, proves that they are in their blocks, and marks them as returned. Results are in
    /// the order of the chain.
    fn fetch_and_prove(
        &mut self,
        wanted: &[(Hash256, Vec<LocationClaim>)],
        watched: &dyn WatchTargets,
    ) -> Result<Vec<(ProvenLocation, ScannedTx)>, NodeError> {
        let ids: Vec<Hash256> = wanted.iter().map(|(id, _)| *id).collect();
        self.fetch_transactions(&ids)?;
        let mut found = Vec::new();
        for (id, claims) in wanted {
            let Some(transaction) = self.fetched_transaction(id) else {
                continue;
            };
            let scanned = self.scan_transaction(transaction, watched)?;
            if scanned.received.is_empty() && scanned.spent.is_empty() {
                continue;
            }
            if let Some(proven) = self.prove_claims(id, claims)? {
                self.pending_returned.push((*id, (proven.height, proven.block)));
                found.push((proven, scanned));
            }
        }
        found.sort_unstable_by_key(|(proven, _)| (proven.height, proven.position));
        Ok(found)
    }

    pub(super) fn scan_transaction(
        &self,
        transaction: &ParsedTransaction,
        watched: &dyn WatchTargets,
    ) -> Result<ScannedTx, NodeError> {
        let scanner = OutputScanner {
            asset: self.asset,
            network: self.network.ok_or(NodeError::Behind)?,
            watched,
        };
        let outputs = transaction.outputs.iter().filter_map(|output| {
            let is_ours = output.amount > 0 && watched.has_script(&output.script);
            let address = script_address(self.chain, scanner.network, &output.script);
            Some(PaidOutput {
                position: output.position,
                address: address.filter(|_| is_ours)?,
                amount: Units(u128::from(output.amount)),
            })
        });
        let txid = format_hash(&transaction.id);
        Ok(scanner.scan(txid, transaction.inputs.clone(), outputs.collect()))
    }

    /// Implements [`Node::mempool`].
    pub(super) fn read_mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<MempoolRead, NodeError> {
        self.refresh_histories(watched)?;
        let unproved = self
            .reports
            .iter()
            .filter(|(id, report)| report.is_in_mempool() && !self.proven.contains_key(*id));
        let mut waiting: Vec<Hash256> = unproved.map(|(id, _)| *id).collect();
        waiting.sort_unstable();
        waiting.truncate(WAITING_MAX);
        self.fetch_transactions(&waiting)?;
        let asked: HashSet<&str> = unconfirmed.iter().map(String::as_str).collect();
        let mut read = MempoolRead::default();
        let disbelieved = self.disbelieved_transactions(&waiting, &asked, watched)?;
        for id in waiting.iter().filter(|id| !disbelieved.contains(*id)) {
            let Some(transaction) = self.fetched_transaction(id) else {
                continue;
            };
            let found = self.scan_transaction(transaction, watched)?;
            if !asked.contains(found.txid.as_str()) {
                read.received.extend(found.received);
            }
            read.spent.extend(found.spent);
        }
        let mut lookups = 0_usize;
        for txid in unconfirmed {
            let id = hex::parse_hash(txid);
            if id.is_some_and(|id| disbelieved.contains(&id)) {
                read.vanished.push(txid.clone());
                continue;
            }
            if id.is_some_and(|id| self.reports.contains_key(&id)) {
                continue;
            }
            // The transaction may pay an address that this step does not poll, so the step looks it up by its id.
            lookups = lookups.saturating_add(1);
            if lookups <= LOOKUPS_MAX && self.find_transaction(txid)?.is_none() {
                read.vanished.push(txid.clone());
            }
        }
        Ok(read)
    }
}

fn empty_block(height: u32, header: &RawHeader) -> Result<BlockRead, NodeError> {
    Ok(BlockRead {
        block: Block { height, hash: format_hash(&header.hash) },
        parent: format_hash(&header.parent_hash()),
        parent_height: height.saturating_sub(1),
        time: block_time(header)?,
        received: Vec::new(),
        spent: Vec::new(),
    })
}
