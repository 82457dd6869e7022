//! A simulated node. The node can lag, stop, hide blocks that are not final, or lack an index or traces.

use super::{MemoryBlock, MemoryChain, MemoryTransaction, next_nonce};
use crate::chain::{
    AccountBalance, BlockRead, FoundTransaction, Head, LookupResult, MempoolRead, Node, NodeError,
    ReceivedOutput, WatchTargets,
};
use crate::domain::observation::CONTRACTS_FROM;
use crate::domain::{Block, InputSource, Time, Units};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Callback that changes the chain after a lookup.
pub(crate) type AfterLookup = Box<dyn FnMut(&mut MemoryChain) + Send>;

pub(crate) struct MemoryNode {
    pub(crate) of: Arc<Mutex<MemoryChain>>,
    /// Number of newest blocks that the node does not have.
    pub(crate) behind: usize,
    /// `true` if the node returns empty lists for blocks that are not final.
    pub(crate) hides: bool,
    /// `false` if the node finds transactions only in its mempool.
    pub(crate) has_index: bool,
    /// `false` if the node returns balances, but no transfers by contracts.
    pub(crate) has_traces: bool,
    /// Height of the lowest block that is not pruned.
    pub(crate) pruned_below: u32,
    /// Error that the node returns for a lookup by id; `None` for a correct answer.
    pub(crate) lookup_error: Option<NodeError>,
    pub(crate) after_lookup: Option<AfterLookup>,
    pub(crate) lookups: u64,
    /// `true` if the node polls addresses and does not read blocks.
    pub(crate) polls_addresses: bool,
    /// Polled addresses whose payments the database has stored.
    stored_addresses: HashSet<String>,
    /// Polled addresses whose payments were returned, but are not stored yet.
    unstored_addresses: HashSet<String>,
    /// Blocks and mempool at the moment when the node was stopped; `None` if the node follows the chain.
    stuck: Option<(Vec<MemoryBlock>, Vec<MemoryTransaction>)>,
}

struct NodeView<'a> {
    memory: &'a MemoryChain,
    has: &'a [MemoryBlock],
    /// Blocks that only other nodes have.
    later: &'a [MemoryBlock],
    pool: &'a [MemoryTransaction],
}

impl MemoryNode {
    pub(crate) fn new(of: &Arc<Mutex<MemoryChain>>) -> MemoryNode {
        MemoryNode {
            of: Arc::clone(of),
            behind: 0,
            hides: false,
            has_index: true,
            has_traces: true,
            pruned_below: 0,
            lookup_error: None,
            after_lookup: None,
            lookups: 0,
            polls_addresses: of.lock().unwrap().chain.row().has_gaps,
            stored_addresses: HashSet::new(),
            unstored_addresses: HashSet::new(),
            stuck: None,
        }
    }

    /// Stops the node at its current state, or lets it follow the chain again.
    pub(crate) fn set_stuck(&mut self, is_stuck: bool) {
        let memory = self.of.lock().unwrap();
        self.stuck = is_stuck.then(|| (memory.active.clone(), memory.mempool.clone()));
    }

    fn reported_payments(
        &self,
        memory: &MemoryChain,
        sent: &MemoryTransaction,
        watched: &dyn WatchTargets,
    ) -> Vec<ReceivedOutput> {
        let mut received = memory.received_outputs(sent, watched);
        received.retain(|one| self.has_traces || one.position < CONTRACTS_FROM);
        received.retain(|one| self.is_reported(one, watched));
        received
    }

    fn is_reported(&self, one: &ReceivedOutput, watched: &dyn WatchTargets) -> bool {
        let mut named = watched.polled_addresses().iter();
        !self.polls_addresses || named.any(|named| named.address == one.address)
    }

    fn with_view<T>(&self, ask: impl FnOnce(NodeView<'_>) -> T) -> T {
        let memory = self.of.lock().unwrap();
        let (active, pool) = match &self.stuck {
            Some((active, pool)) => (active, pool),
            None => (&memory.active, &memory.mempool),
        };
        let (has, later) = active.split_at(active.len().saturating_sub(self.behind).max(1));
        ask(NodeView { memory: &memory, has, later, pool })
    }
}

impl Node for MemoryNode {
    fn network(&mut self) -> Result<String, NodeError> {
        Ok(self.with_view(|view| view.memory.network.clone()))
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        Ok(self.with_view(|NodeView { memory, has, .. }| {
            let tip = has.last().unwrap();
            Head {
                block: tip.block.clone(),
                time: tip.time,
                is_complete: true,
                finalized: (!memory.chain.has_outputs()).then(|| finalized_height(memory, has)),
            }
        }))
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        Ok(self.with_view(|NodeView { memory, has, .. }| {
            let mut blocks = has.iter();
            let found = blocks.find(|mined| mined.block.height == height);
            let found = found.map(|mined| mined.block.hash.clone());
            // A final slot without a block never gets a block.
            let is_skipped = memory.chain.row().has_gaps && height <= finalized_height(memory, has);
            found.or_else(|| is_skipped.then(|| "skipped".to_owned()))
        }))
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let hides = self.hides;
        Ok(self.with_view(|NodeView { memory, has, .. }| {
            let finalized = finalized_height(memory, has);
            let read = has.iter().filter(|mined| (from..=to).contains(&mined.block.height));
            let hides = hides && !memory.chain.has_outputs();
            let before = |mined: &MemoryBlock| {
                let at = has.partition_point(|one| one.block.height < mined.block.height);
                let before = at.checked_sub(1).and_then(|at| has.get(at));
                before.map_or(0, |mined| mined.block.height)
            };
            let read = read.map(|mined| {
                let is_hidden = hides && mined.block.height > finalized;
                let sent = mined.sent.iter().filter(|_| !is_hidden);
                BlockRead {
                    block: mined.block.clone(),
                    parent: mined.parent.clone(),
                    parent_height: before(mined),
                    time: mined.time,
                    received: sent
                        .clone()
                        .flat_map(|sent| self.reported_payments(memory, sent, watched))
                        .collect(),
                    spent: sent.flat_map(|sent| watched_spends(sent, watched)).collect(),
                }
            });
            let mut read: Vec<BlockRead> = read.collect();
            if !memory.chain.has_outputs() {
                let ends = [read.first(), read.last()].map(|end| end.map(|read| read.block.height));
                read.retain(|one| {
                    !one.received.is_empty() || ends.contains(&Some(one.block.height))
                });
            }
            read
        }))
    }

    fn is_queried_by_address(&self) -> bool {
        self.polls_addresses
    }

    fn late_payments(
        &mut self,
        to: &Block,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let mut new: HashSet<String> = HashSet::new();
        for named in watched.polled_addresses() {
            if named.is_daily || !self.stored_addresses.contains(&named.address) {
                new.insert(named.address.clone());
            }
        }
        self.unstored_addresses.extend(new.iter().cloned());
        let mut blocks = self.blocks(0, to.height, watched)?;
        for read in &mut blocks {
            read.received.retain(|one| new.contains(&one.address));
        }
        blocks.retain(|read| !read.received.is_empty());
        Ok(blocks)
    }

    fn mark_answers_stored(&mut self) {
        self.stored_addresses.extend(self.unstored_addresses.drain());
    }

    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<MempoolRead, NodeError> {
        let read = self.with_view(|view| {
            let memory = view.memory;
            // If only other nodes have a block, its transactions are still in the mempool of this node.
            let later = view.later.iter().flat_map(|mined| &mined.sent);
            let pool: HashMap<&str, &MemoryTransaction> =
                later.chain(view.pool).map(|sent| (sent.txid.as_str(), sent)).collect();
            let mut read = MempoolRead::default();
            for sent in pool.values() {
                let mut received = memory.received_outputs(sent, watched);
                for one in &mut received {
                    one.first_seen = Some(sent.at);
                }
                received.retain(|one| self.is_reported(one, watched));
                if !unconfirmed.contains(&sent.txid) {
                    read.received.extend(received);
                }
                read.spent.extend(watched_spends(sent, watched));
            }
            let gone = unconfirmed.iter().filter(|txid| !pool.contains_key(txid.as_str()));
            read.vanished = gone.cloned().collect();
            read
        });
        Ok(read)
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        Ok(self.with_view(|view| {
            let mut blocks = view.has.iter();
            let found = blocks.find(|mined| mined.sent.iter().any(|sent| sent.txid == txid));
            found.map(|mined| mined.block.clone())
        }))
    }

    fn look_up_transaction(
        &mut self,
        txid: &str,
        native_to: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        self.lookups += 1;
        if let Some(error) = &self.lookup_error {
            return Err(error.clone());
        }
        let found = self.with_view(|view| {
            let is_it = |sent: &&MemoryTransaction| sent.txid == txid;
            let in_block = |mined: &MemoryBlock| {
                let sent = mined.sent.iter().find(is_it)?.clone();
                Some((sent, Some((mined.block.clone(), mined.time))))
            };
            let later = view.later.iter().flat_map(|mined| &mined.sent);
            let waiting = later.chain(view.pool).find(is_it).cloned();
            let mined = || view.has.iter().find_map(in_block);
            let waiting = waiting.map(|sent| (sent, None));
            let Some((sent, block)) = waiting.or_else(|| mined().filter(|_| self.has_index)) else {
                return if self.has_index { LookupResult::Absent } else { LookupResult::NoIndex };
            };
            // Nodes of account chains do not report payments of pending transactions.
            let is_told = block.is_some() || view.memory.chain.has_outputs();
            let first_seen = block.is_none().then_some(sent.at);
            let mut received = self.reported_payments(view.memory, &sent, watched);
            received.retain(|_| is_told);
            for one in &mut received {
                one.first_seen = first_seen;
            }
            LookupResult::Found(Box::new(FoundTransaction {
                is_done: block.is_none() || !sent.reverts,
                block,
                first_seen,
                spends: sent.spends.clone(),
                nonce: sent.nonce,
                received,
                is_traced: self.has_traces || native_to.is_empty(),
            }))
        });
        if let Some(after) = &mut self.after_lookup {
            after(&mut self.of.lock().unwrap());
        }
        Ok(found)
    }

    fn block_if_nonce_used(
        &mut self,
        txid: &str,
        sender: &str,
        nonce: u64,
        height: u32,
    ) -> Result<Option<Block>, NodeError> {
        self.with_view(|view| {
            let mut mined = view.has.iter().flat_map(|mined| &mined.sent);
            if mined.any(|sent| sent.txid == txid) {
                return Err(NodeError::Behind);
            }
            let at = usize::try_from(height).unwrap();
            let blocks = view.has.get(..=at).ok_or(NodeError::Behind)?;
            let last = blocks.last().ok_or(NodeError::Behind)?;
            Ok((next_nonce(blocks, sender) > nonce).then(|| last.block.clone()))
        })
    }

    fn block_time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        let is_pruned = height < self.pruned_below;
        Ok(self.with_view(|view| {
            let mut blocks = view.has.iter();
            let mined = blocks.find(|mined| mined.block.height >= height);
            mined.filter(|_| !is_pruned).map(|mined| mined.time)
        }))
    }

    fn balances_at(
        &mut self,
        accounts: &[String],
        height: u32,
    ) -> Result<Option<Vec<AccountBalance>>, NodeError> {
        if self.has_traces {
            return Ok(None);
        }
        Ok(self.with_view(|view| {
            let blocks = view.has.iter();
            let blocks = blocks.filter(|mined| mined.block.height <= height);
            let sent: Vec<&MemoryTransaction> = blocks.flat_map(|mined| &mined.sent).collect();
            let held = accounts.iter().map(|account| {
                let moved = sent.iter().flat_map(|sent| sent.payments());
                let came = moved.filter(|(_, to, _)| to == account);
                AccountBalance {
                    amount: Units(came.map(|(.., units)| units.0).sum()),
                    has_sent: sent.iter().any(|sent| sent.sender() == Some(account)),
                }
            });
            Some(held.collect())
        }))
    }

    fn has_traces(&self) -> Option<bool> {
        let has_accounts = self.with_view(|view| !view.memory.chain.has_outputs());
        (has_accounts && !self.has_traces).then_some(false)
    }
}

fn finalized_height(memory: &MemoryChain, has: &[MemoryBlock]) -> u32 {
    let behind = usize::try_from(memory.final_behind).unwrap();
    let last = has.len().checked_sub(behind + 1);
    let last = last.and_then(|at| has.get(at));
    last.map_or(0, |mined| mined.block.height)
}

fn watched_spends(
    sent: &MemoryTransaction,
    watched: &dyn WatchTargets,
) -> Vec<(InputSource, String)> {
    let watched = sent.spends.iter().filter(|spent| {
        matches!(spent, InputSource::Output(txid, position) if watched.has_output(txid, *position))
    });
    watched.map(|spent| (spent.clone(), sent.txid.clone())).collect()
}
